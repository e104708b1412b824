// SPDX-License-Identifier: Apache-2.0
// Draws frames of videos side by side. Pure.
#pragma once

#include <vector>

#include "model/frame_sink.h"

namespace reel::client {

// Rows of tiles below each other on white, at least one tile each; of different sizes each has the
// place of the largest.
model::RgbImage DrawRows(const std::vector<std::vector<model::RgbImage>>& rows);

// Three rows: frames of one video, frames of the other, and the difference of each sample, eight
// times as bright. Used by one thread.
class ContactSheet {
 public:
  static constexpr int kColumns = 6;
  static constexpr int kTileWidth = 256;

  // The frames to show of a video with at least 1 frame: up to kColumns, the first and the last
  // included.
  static std::vector<int> FramesFor(int num_frames);

  // A picture shrunk to at most kTileWidth.
  static model::RgbImage Tile(const model::RgbImage& image);

  // Adds a column. Pictures of one size, shrunk to at most kTileWidth.
  void Add(const model::RgbImage& a, const model::RgbImage& b);
  // Needs at least one column.
  model::RgbImage Picture() const;

 private:
  std::vector<std::vector<model::RgbImage>> rows_{3};
};

}  // namespace reel::client
