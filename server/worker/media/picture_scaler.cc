// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/picture_scaler.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace reel::worker {
namespace {

// Weights are integers of this many fractional bits, sums are rounded once, and the result of the
// first pass is bytes again: all of this decides single bits.
constexpr int kFractionBits = 22;
constexpr int32_t kHalf = 1 << (kFractionBits - 1);
constexpr double kLobes = 3;
constexpr int kChannels = 3;

double Sinc(double x) {
  if (x == 0) return 1;
  return std::sin(x * std::numbers::pi) / (x * std::numbers::pi);
}

double Lanczos(double x) { return x >= -kLobes && x < kLobes ? Sinc(x) * Sinc(x / kLobes) : 0; }

uint8_t Byte(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kFractionBits, 0, 255)); }

// One output position: `weights` of the inputs from `first` on.
struct Taps {
  int first = 0;
  std::vector<int32_t> weights;
};

Taps TapsAt(int position, int from, double scale) {
  const double stretch = std::max(scale, 1.0);  // of the filter, when shrinking
  const double support = kLobes * stretch;
  const double center = (position + 0.5) * scale;
  Taps taps;
  taps.first = std::max(static_cast<int>(center - support + 0.5), 0);
  const int end = std::min(static_cast<int>(center + support + 0.5), from);
  std::vector<double> weights;
  double sum = 0;
  for (int i = taps.first; i < end; ++i) {
    weights.push_back(Lanczos((i - center + 0.5) * (1 / stretch)));
    sum += weights.back();
  }
  for (double weight : weights) {
    if (sum != 0) weight /= sum;
    const double fixed = weight * (1 << kFractionBits);
    taps.weights.push_back(static_cast<int32_t>(fixed < 0 ? fixed - 0.5 : fixed + 0.5));
  }
  return taps;
}

std::vector<Taps> AllTaps(int from, int to) {
  std::vector<Taps> all;
  for (int i = 0; i < to; ++i) all.push_back(TapsAt(i, from, static_cast<double>(from) / to));
  return all;
}

model::RgbImage Sized(int width, int height) {
  model::RgbImage image{width, height, {}};
  image.pixels.resize(static_cast<size_t>(width) * static_cast<size_t>(height) * kChannels);
  return image;
}

model::RgbImage ScaleWidth(const model::RgbImage& from, int width) {
  const std::vector<Taps> all = AllTaps(from.width, width);
  model::RgbImage to = Sized(width, from.height);
  uint8_t* out = to.pixels.data();
  for (int y = 0; y < from.height; ++y) {
    const uint8_t* row = from.pixels.data() + ptrdiff_t{y} * from.width * kChannels;
    for (const Taps& taps : all) {
      const uint8_t* in = row + ptrdiff_t{taps.first} * kChannels;
      int32_t r = kHalf, g = kHalf, b = kHalf;
      for (const int32_t weight : taps.weights) {
        r += in[0] * weight;
        g += in[1] * weight;
        b += in[2] * weight;
        in += kChannels;
      }
      *out++ = Byte(r);
      *out++ = Byte(g);
      *out++ = Byte(b);
    }
  }
  return to;
}

model::RgbImage ScaleHeight(const model::RgbImage& from, int height) {
  const std::vector<Taps> all = AllTaps(from.height, height);
  model::RgbImage to = Sized(from.width, height);
  const auto row_bytes = static_cast<size_t>(from.width) * kChannels;
  std::vector<int32_t> sums(row_bytes);
  uint8_t* out = to.pixels.data();
  for (const Taps& taps : all) {
    std::fill(sums.begin(), sums.end(), kHalf);
    const uint8_t* in = from.pixels.data() + static_cast<size_t>(taps.first) * row_bytes;
    for (const int32_t weight : taps.weights) {
      for (size_t i = 0; i < row_bytes; ++i) sums[i] += in[i] * weight;
      in += row_bytes;
    }
    for (const int32_t sum : sums) *out++ = Byte(sum);
  }
  return to;
}

}  // namespace

model::RgbImage ScaleLanczos(const model::RgbImage& image, int width, int height) {
  // The pass that leaves less work comes first, by Pillow 13's measure; older versions always begin
  // with the width. The order changes bits, since the passes exchange bytes.
  const int64_t lost_height = int64_t{image.height} - height;
  const int64_t lost_width = int64_t{image.width} - width;
  const bool height_first = lost_height > 0 && lost_height > 2 * lost_width;
  model::RgbImage scaled = image;
  if (height_first) scaled = ScaleHeight(scaled, height);
  if (scaled.width != width) scaled = ScaleWidth(scaled, width);
  if (scaled.height != height) scaled = ScaleHeight(scaled, height);
  return scaled;
}

}  // namespace reel::worker
