// SPDX-License-Identifier: Apache-2.0
// PSNR and SSIM of two images. Pure.
#pragma once

#include <vector>

#include "model/frame_sink.h"

namespace reel::client {

// Compares two videos frame by frame. Used by one thread.
class PictureDistance {
 public:
  // Both pictures have one size, at least 1 x 1, the same for all frames.
  void Add(const model::RgbImage& a, const model::RgbImage& b);

  int frames() const { return frames_; }
  // From the mean squared error of all samples; infinity for equal pictures, and without any.
  double psnr_db() const;
  // The mean over frames, of luma, by Wang, Bovik, Sheikh and Simoncelli (2004): a Gaussian window
  // of 11 x 11 pixels (smaller if a side is), only inside the picture. 1 for equal pictures, and
  // without any.
  double ssim() const { return frames_ == 0 ? 1 : ssim_ / frames_; }

 private:
  int frames_ = 0;
  double squares_ = 0;
  double samples_ = 0;
  double ssim_ = 0;
};

}  // namespace reel::client
