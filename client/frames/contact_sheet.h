// SPDX-License-Identifier: Apache-2.0
// Frames of two videos side by side, to look at. Pure.
#pragma once

#include <vector>

#include "model/frame_sink.h"

namespace reel::client {

// Three rows: frames of the one video, those of the other, and how far each sample lies apart,
// eight times as bright. Confined to one thread.
class ContactSheet {
 public:
  static constexpr int kColumns = 6;
  static constexpr int kTileWidth = 256;

  // Of a video with so many frames, at least 1: up to kColumns of them, the first and the last
  // included.
  static std::vector<int> FramesFor(int num_frames);

  // The next column. Pictures of one size, which are shrunk to at most kTileWidth.
  void Add(const model::RgbImage& a, const model::RgbImage& b);
  // After at least one column.
  model::RgbImage Picture() const;

 private:
  std::vector<model::RgbImage> columns_[3];
};

}  // namespace reel::client
