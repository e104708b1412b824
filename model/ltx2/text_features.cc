// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/text_features.h"

#include <array>

namespace reel::model::ltx2 {
namespace {

constexpr double kFeatureEps = 1e-6, kRange = 8;
constexpr int64_t kChannels = 2;

}  // namespace

at::Tensor TokenNorms(const at::Tensor& states) {
  const at::Tensor mean_square = at::mean(states.pow(2), {kChannels}, /*keepdim=*/true);
  return (states * at::rsqrt(mean_square + kFeatureEps)).flatten(kChannels);
}

at::Tensor RangeNorms(const at::Tensor& states) {
  constexpr std::array<int64_t, 2> of_text = {1, kChannels};
  // The reference's mean is fp32 whatever the type, for it divides by a number that is.
  const double count = static_cast<double>(states.size(1) * states.size(kChannels));
  const at::Tensor mean =
      states.sum(of_text, true).to(at::kFloat) / static_cast<float>(count + kFeatureEps);
  const at::Tensor range = states.amax(of_text, true) - states.amin(of_text, true) + kFeatureEps;
  return ((states - mean) / range * kRange).flatten(kChannels).to(states.scalar_type());
}

}  // namespace reel::model::ltx2
