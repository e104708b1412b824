// SPDX-License-Identifier: Apache-2.0
#include "model/frames/small_picture.h"

#include <algorithm>

namespace reel::model {

RgbImage SmallPicture(const Ops& ops, const at::Tensor& pictures, int max_side) {
  at::Tensor pixels = ops.Rgb8(pictures)[0].to(at::kCPU);  // [H, W, 3]
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

}  // namespace reel::model
