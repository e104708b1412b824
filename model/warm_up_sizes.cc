// SPDX-License-Identifier: Apache-2.0
#include "model/warm_up_sizes.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "model/fit_model.h"
#include "model/pass_work.h"

namespace reel::model {
namespace {

// Where no preset is smaller.
constexpr int kSmallSide = 256, kSmallFrames = 25;

GenerationSpec Sized(const ModelCard& card, const GenerationSpec& values) {
  GenerationSpec spec = card.defaults;
  if (values.width > 0) spec.width = values.width;
  if (values.height > 0) spec.height = values.height;
  if (values.num_frames > 0) spec.num_frames = values.num_frames;
  return spec;
}

GenerationSpec Small(const ModelCard& card) {
  const ModelLimits& limits = card.limits;
  const int side = std::clamp(kSmallSide / card.spatial_multiple * card.spatial_multiple,
                              limits.min_size, limits.max_size);
  GenerationSpec spec = card.defaults;
  spec.width = spec.height = side;
  const int frames = std::min(std::max(kSmallFrames, limits.min_frames), limits.max_frames) - 1;
  spec.num_frames = frames / card.temporal_multiple * card.temporal_multiple + 1;
  return spec;
}

// Beside the weights, where they were planned for a device's memory.
bool Fits(const GenerationSpec& spec, const ModelCard& card) {
  return !card.fit.has_value() || PeakMemoryOf(spec, card) <= card.fit->usable - card.weight_bytes;
}

}  // namespace

std::vector<WarmUpSize> UsualWarmUpSizes(const ModelCard& card) {
  std::vector<GenerationSpec> known = {card.defaults};
  for (const Preset& preset : card.presets) {
    GenerationSpec spec = Sized(card, preset.values);
    if (LatentTokens(spec, card) <= card.limits.max_latent_tokens) known.push_back(std::move(spec));
  }
  const auto has_less = [&](const GenerationSpec& a, const GenerationSpec& b) {
    return LatentTokens(a, card) < LatentTokens(b, card);
  };
  const GenerationSpec largest = *std::max_element(known.begin(), known.end(), has_less);
  known.push_back(Small(card));
  const GenerationSpec smallest = *std::min_element(known.begin(), known.end(), has_less);
  std::vector<WarmUpSize> sizes;
  int64_t last = 0;
  for (const GenerationSpec& spec : {smallest, card.defaults, largest}) {
    if (LatentTokens(spec, card) <= std::exchange(last, LatentTokens(spec, card))) continue;
    if (!sizes.empty() && !Fits(spec, card)) break;
    sizes.push_back({spec.width, spec.height, spec.num_frames});
  }
  return sizes;
}

}  // namespace reel::model
