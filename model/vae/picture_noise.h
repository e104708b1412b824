// SPDX-License-Identifier: Apache-2.0
// The noise that a diffusion decoder makes a clip's pictures of, drawn on the host in bounded
// parts.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/bridge/aten.h"

namespace reel::model {

class PictureNoise {
 public:
  // In the reference's order, channel by channel of the whole clip: all of it must be drawn before
  // its first frame is known. `sizes`: [1, 3, T, H, W].
  static PictureNoise OfClip(const std::vector<int64_t>& sizes, at::ScalarType dtype,
                             const at::Generator& generator);
  // Frame by frame, so that only some frames are held: for clips that no reference makes.
  static PictureNoise ByFrame(const std::vector<int64_t>& sizes, at::ScalarType dtype,
                              const at::Generator& generator);
  // Given values, [1, 3, T, H, W].
  explicit PictureNoise(at::Tensor values) : values_(std::move(values)), drawn_(values_.numel()) {}

  // Draws the next part of what must be known before any frame; true once that is known.
  bool Prepare();
  // The noise of the next frames, [1, 3, frames, H, W]. Prepare() has said true.
  at::Tensor Take(int64_t frames);

 private:
  at::Generator generator_;
  at::Tensor values_;  // of the clip; by frame: of one
  int64_t drawn_ = 0;  // numbers
  int64_t taken_ = 0;  // frames
  bool by_frame_ = false;
};

}  // namespace reel::model
