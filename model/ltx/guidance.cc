// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/guidance.h"

namespace reel::model::ltx {

at::Tensor Guide(const at::Tensor& velocities, double scale, double rescale) {
  const at::Tensor negative = velocities.slice(0, 0, 1), positive = velocities.slice(0, 1, 2);
  const at::Tensor guided = negative + scale * (positive - negative);
  if (rescale <= 0) return guided;
  const auto deviation = [](const at::Tensor& x) { return at::std(x, {1, 2}, true, true); };
  const at::Tensor rescaled = guided * (deviation(positive) / deviation(guided));
  return rescale * rescaled + (1 - rescale) * guided;
}

}  // namespace reel::model::ltx
