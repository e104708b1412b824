// SPDX-License-Identifier: Apache-2.0
#include "model/vae/diffusion_decoder_config.h"

#include <algorithm>

namespace reel::model {
namespace {

// The frames behind layers that make `stride` of each, where the first of a doubling is dropped.
int64_t FramesBehind(int64_t frames, int64_t stride) { return (frames - 1) * stride + 1; }

// The fewest frames whose layers give at least `wanted`.
int64_t LeastFrames(int64_t wanted, int64_t stride) { return (wanted - 2 + stride) / stride + 1; }

int64_t Upwards(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

int64_t DiffusionDecoderConfig::latents_behind() const {
  return stages.empty() ? 0 : stages.front().window[0] / 2 * 2;
}

LatentShape DiffusionDecoderConfig::Least() const {
  LatentShape least = {1, 1, 1};
  std::array<int64_t, 3> scale = {1, 1, 1};
  const auto hold = [&](const WindowSizes& sizes, int64_t behind) {
    if (sizes[0] > FramesBehind(least.frames + behind, scale[0])) {
      least.frames = LeastFrames(sizes[0], scale[0]) - behind;
    }
    least.height = std::max(least.height, Upwards(sizes[1], scale[1]));
    least.width = std::max(least.width, Upwards(sizes[2], scale[2]));
  };
  for (const WindowStage& stage : stages) {
    hold(stage.window, latents_behind());
    for (size_t i = 0; i < 3; ++i) scale[i] *= stage.strides[i];
  }
  hold(window, 0);
  return least;
}

int64_t DiffusionDecoderConfig::PixelNumbers() const {
  // Frames between two calls. A block holds keys and values of a window, queries and inputs of half
  // a window, and outputs that the next block has not taken yet. All blocks share their context.
  constexpr int64_t kOutputs = 8;
  const int64_t of_a_block = 3 * window[0] + kOutputs,
                context = blocks * (window[0] / 2) + kOutputs;
  // Of the block at work: its inputs, copies of all that it holds, and rotations in fp32.
  constexpr int64_t kAtWork = 260;
  return channels * (blocks * of_a_block + context + kAtWork) / (patch * patch);
}

}  // namespace reel::model
