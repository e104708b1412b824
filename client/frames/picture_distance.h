// SPDX-License-Identifier: Apache-2.0
// PSNR and SSIM of pictures. Pure.
#pragma once

#include <vector>

#include "model/frame_sink.h"

namespace reel::client {

// Of two videos, frame by frame. Confined to one thread.
class PictureDistance {
 public:
  // Both of one size, at least 1 x 1, the same for all frames.
  void Add(const model::RgbImage& a, const model::RgbImage& b);

  int frames() const { return frames_; }
  // Of the mean squared error of all samples; infinity for equal pictures, and for none.
  double psnr_db() const;
  // The mean over frames, of luma, by Wang, Bovik, Sheikh and Simoncelli (2004): a Gaussian window
  // of 11 x 11 pixels (less where a side has less), only where it lies within the picture. 1 for
  // equal pictures, and for none.
  double ssim() const { return frames_ == 0 ? 1 : ssim_ / frames_; }

 private:
  int frames_ = 0;
  double squares_ = 0;
  double samples_ = 0;
  double ssim_ = 0;
};

}  // namespace reel::client
