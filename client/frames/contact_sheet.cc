// SPDX-License-Identifier: Apache-2.0
#include "client/frames/contact_sheet.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "server/worker/media/picture_scaler.h"

namespace reel::client {
namespace {

constexpr int kBrighter = 8;
constexpr int kGap = 4;  // pixels between tiles, white

model::RgbImage Difference(const model::RgbImage& a, const model::RgbImage& b) {
  model::RgbImage difference = a;
  for (size_t i = 0; i < a.pixels.size(); ++i) {
    const int apart = std::abs(int{a.pixels[i]} - int{b.pixels[i]});
    difference.pixels[i] = static_cast<uint8_t>(std::min(255, apart * kBrighter));
  }
  return difference;
}

void Paste(const model::RgbImage& tile, int left, int top, model::RgbImage& sheet) {
  const size_t row_bytes = size_t{3} * static_cast<size_t>(tile.width);
  for (int y = 0; y < tile.height; ++y) {
    const size_t to = 3 * (static_cast<size_t>(top + y) * static_cast<size_t>(sheet.width) +
                           static_cast<size_t>(left));
    std::copy_n(tile.pixels.data() + static_cast<size_t>(y) * row_bytes, row_bytes,
                sheet.pixels.data() + to);
  }
}

}  // namespace

model::RgbImage DrawRows(const std::vector<std::vector<model::RgbImage>>& rows) {
  int width = 0, height = 0, columns = 0;
  for (const std::vector<model::RgbImage>& row : rows) {
    columns = std::max(columns, static_cast<int>(row.size()));
    for (const model::RgbImage& tile : row) {
      width = std::max(width, tile.width);
      height = std::max(height, tile.height);
    }
  }
  const int num_rows = static_cast<int>(rows.size());
  model::RgbImage sheet{
      columns * width + (columns - 1) * kGap, num_rows * height + (num_rows - 1) * kGap, {}};
  sheet.pixels.assign(
      size_t{3} * static_cast<size_t>(sheet.width) * static_cast<size_t>(sheet.height), 255);
  int top = 0;
  for (const std::vector<model::RgbImage>& row : rows) {
    int left = 0;
    for (const model::RgbImage& tile : row) {
      Paste(tile, left, top, sheet);
      left += width + kGap;
    }
    top += height + kGap;
  }
  return sheet;
}

model::RgbImage ContactSheet::Tile(const model::RgbImage& image) {
  if (image.width <= kTileWidth) return image;
  const int64_t height = int64_t{image.height} * kTileWidth / image.width;
  return worker::ScaleLanczos(image, kTileWidth, static_cast<int>(std::max<int64_t>(1, height)));
}

std::vector<int> ContactSheet::FramesFor(int num_frames) {
  const int columns = std::min(kColumns, num_frames);
  std::vector<int> frames;
  for (int i = 0; i < columns; ++i) {
    frames.push_back(columns == 1 ? 0 : i * (num_frames - 1) / (columns - 1));
  }
  return frames;
}

void ContactSheet::Add(const model::RgbImage& a, const model::RgbImage& b) {
  // Before shrinking, so that a difference of one pixel does not fade.
  model::RgbImage difference = Difference(a, b);
  rows_[0].push_back(Tile(a));
  rows_[1].push_back(Tile(b));
  rows_[2].push_back(Tile(difference));
}

model::RgbImage ContactSheet::Picture() const { return DrawRows(rows_); }

}  // namespace reel::client
