// SPDX-License-Identifier: Apache-2.0
// Converts lossy WebP's colours as libwebp does, which the reference uses.
#include <algorithm>
#include <cstdint>

#include "server/worker/media/frame_colors.h"

namespace reel::worker {
namespace {

// Interpolates at a quarter of a sample beside the nearest one, both ways: weights 9, 3, 3 and 1,
// rounded in libwebp's two stages. Edges repeat.
int Chroma(const AVFrame& frame, int index, int x, int y) {
  const int width = (frame.width + 1) / 2, height = (frame.height + 1) / 2;
  const auto at = [&](int column, int row) -> int {
    return frame.data[index][ptrdiff_t{std::clamp(row, 0, height - 1)} * frame.linesize[index] +
                             std::clamp(column, 0, width - 1)];
  };
  const int column = x / 2, row = y / 2;
  const int beside = x % 2 == 0 ? column - 1 : column + 1;
  const int above = y % 2 == 0 ? row - 1 : row + 1;
  const int nearest = at(column, row), sides = at(beside, row) + at(column, above);
  const int sum = nearest + sides + at(beside, above) + 8;
  return (((sum + 2 * sides) >> 3) + nearest) >> 1;
}

// ITU-R BT.601 in the limited range, in libwebp's fixed point.
int Part(int value, int factor) { return (value * factor) >> 8; }
uint8_t Byte(int value) { return static_cast<uint8_t>(std::clamp(value >> 6, 0, 255)); }

}  // namespace

absl::StatusOr<model::RgbImage> RgbOfWebp(const AVFrame& frame) {
  if (frame.format != AV_PIX_FMT_YUV420P && frame.format != AV_PIX_FMT_YUVA420P) {
    return absl::UnimplementedError("no lossy WebP");
  }
  model::RgbImage image{frame.width, frame.height, {}};
  image.pixels.reserve(size_t{3} * static_cast<size_t>(frame.width) *
                       static_cast<size_t>(frame.height));
  for (int y = 0; y < frame.height; ++y) {
    for (int x = 0; x < frame.width; ++x) {
      const int luma = Part(frame.data[0][ptrdiff_t{y} * frame.linesize[0] + x], 19077);
      const int blue = Chroma(frame, 1, x, y), red = Chroma(frame, 2, x, y);
      image.pixels.push_back(Byte(luma + Part(red, 26149) - 14234));
      image.pixels.push_back(Byte(luma - Part(blue, 6419) - Part(red, 13320) + 8708));
      image.pixels.push_back(Byte(luma + Part(blue, 33050) - 17685));
    }
  }
  return image;
}

}  // namespace reel::worker
