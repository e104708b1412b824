// SPDX-License-Identifier: Apache-2.0
// Converts JPEG's colours as libjpeg does, which the reference uses.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "server/worker/media/frame_colors.h"

namespace reel::worker {
namespace {

// A plane of samples.
struct Plane {
  int width = 0, height = 0;
  std::vector<uint8_t> samples;

  const uint8_t* Row(int y) const {
    return samples.data() + ptrdiff_t{std::clamp(y, 0, height - 1)} * width;
  }
};

Plane PlaneOf(const AVFrame& frame, int index, int shift_x, int shift_y) {
  Plane plane{(frame.width + (1 << shift_x) - 1) >> shift_x,
              (frame.height + (1 << shift_y) - 1) >> shift_y,
              {}};
  plane.samples.reserve(static_cast<size_t>(plane.width) * static_cast<size_t>(plane.height));
  for (int y = 0; y < plane.height; ++y) {
    const uint8_t* row = frame.data[index] + ptrdiff_t{y} * frame.linesize[index];
    plane.samples.insert(plane.samples.end(), row, row + plane.width);
  }
  return plane;
}

// A row twice as wide. `sums` are samples times `unit`. Each output lies a quarter of a sample
// beside an input. It rounds down to the left and up to the right, or the other way round, so that
// no colour cast remains.
struct Rounding {
  int left, right, shift;
};

void Widen(const std::vector<int>& sums, Rounding rounding, int width, uint8_t* out) {
  const int last = static_cast<int>(sums.size()) - 1;
  for (int x = 0; x < width; ++x) {
    const int i = x / 2;
    const int here = sums[static_cast<size_t>(i)];
    const bool is_left = x % 2 == 0;
    const int there = sums[static_cast<size_t>(std::clamp(is_left ? i - 1 : i + 1, 0, last))];
    // Edges repeat: 3 + 1 of the edge are 4.
    out[x] = static_cast<uint8_t>((3 * here + there + (is_left ? rounding.left : rounding.right)) >>
                                  rounding.shift);
  }
}

// Samples of chroma for every pixel.
Plane Enlarged(const Plane& small, int width, int height, bool both_ways) {
  Plane large{width, height, {}};
  large.samples.resize(static_cast<size_t>(width) * static_cast<size_t>(height));
  std::vector<int> sums(static_cast<size_t>(small.width));
  // Too narrow for the filter: libjpeg repeats samples.
  const bool repeat = small.width <= 2;
  for (int y = 0; y < height; ++y) {
    const int row = both_ways ? y / 2 : y;
    const uint8_t* near = small.Row(row);
    const uint8_t* far = small.Row(y % 2 == 0 ? row - 1 : row + 1);
    uint8_t* out = large.samples.data() + ptrdiff_t{y} * width;
    if (repeat) {
      for (int x = 0; x < width; ++x) out[x] = near[x / 2];
      continue;
    }
    for (size_t x = 0; x < sums.size(); ++x) sums[x] = both_ways ? 3 * near[x] + far[x] : near[x];
    Widen(sums, both_ways ? Rounding{8, 7, 4} : Rounding{1, 2, 2}, width, out);
  }
  return large;
}

uint8_t Byte(int value) { return static_cast<uint8_t>(std::clamp(value, 0, 255)); }

// ITU-R BT.601 in the full range, in fixed point of 16 bits.
constexpr int Fixed(double value) { return static_cast<int>(value * 65536 + 0.5); }
constexpr int kHalf = 1 << 15;

void PushRgb(int luma, int blue, int red, std::vector<uint8_t>& out) {
  blue -= 128;
  red -= 128;
  out.push_back(Byte(luma + ((Fixed(1.40200) * red + kHalf) >> 16)));
  out.push_back(Byte(luma + ((-Fixed(0.34414) * blue - Fixed(0.71414) * red + kHalf) >> 16)));
  out.push_back(Byte(luma + ((Fixed(1.77200) * blue + kHalf) >> 16)));
}

}  // namespace

absl::StatusOr<model::RgbImage> RgbOfJpeg(const AVFrame& frame) {
  int shift_x = 0, shift_y = 0;
  switch (frame.format) {
    case AV_PIX_FMT_YUVJ420P:
      shift_x = shift_y = 1;
      break;
    case AV_PIX_FMT_YUVJ422P:
      shift_x = 1;
      break;
    case AV_PIX_FMT_YUVJ444P:
      break;
    default:
      return absl::UnimplementedError("no usual JPEG");
  }
  const Plane luma = PlaneOf(frame, 0, 0, 0);
  Plane blue = PlaneOf(frame, 1, shift_x, shift_y), red = PlaneOf(frame, 2, shift_x, shift_y);
  if (shift_x == 1) {
    blue = Enlarged(blue, frame.width, frame.height, shift_y == 1);
    red = Enlarged(red, frame.width, frame.height, shift_y == 1);
  }
  model::RgbImage image{frame.width, frame.height, {}};
  image.pixels.reserve(luma.samples.size() * 3);
  for (size_t i = 0; i < luma.samples.size(); ++i) {
    PushRgb(luma.samples[i], blue.samples[i], red.samples[i], image.pixels);
  }
  return image;
}

}  // namespace reel::worker
