// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/preview.h"

#include <algorithm>

#include "model/bridge/ops.h"

namespace reel::model::ltx {

RgbImage PreviewOf(const LtxModel& model, const at::Tensor& latents, int max_side,
                   const kernels::Execution& run) {
  const int64_t middle = latents.size(2) / 2;
  const at::Tensor one =
      model.statistics.Denormalize(latents.slice(2, middle, middle + 1)).to(model.dtype);
  // A generator of its own: a preview must not change the video.
  at::Generator noise = at::detail::createCPUGenerator(0);
  const Ops ops(run);
  const Frames frames = model.decoder.Decode(ops, one, {{}, 0.05, noise})->Next(ops);
  at::Tensor pixels = ops.Rgb8(frames.x)[0].to(at::kCPU);  // [H, W, 3]
  const int64_t longest = std::max(pixels.size(0), pixels.size(1));
  const int64_t every = (longest + max_side - 1) / std::max(1, max_side);
  if (every > 1) {
    pixels = pixels.slice(0, 0, std::nullopt, every).slice(1, 0, std::nullopt, every);
  }
  pixels = pixels.contiguous();
  RgbImage image;
  image.height = static_cast<int>(pixels.size(0));
  image.width = static_cast<int>(pixels.size(1));
  image.pixels.assign(pixels.data_ptr<uint8_t>(), pixels.data_ptr<uint8_t>() + pixels.numel());
  return image;
}

}  // namespace reel::model::ltx
