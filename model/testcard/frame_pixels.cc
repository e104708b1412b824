// SPDX-License-Identifier: Apache-2.0
#include "model/testcard/frame_pixels.h"

#include <cmath>
#include <cstring>

namespace reel::model {
namespace {

// BT.709, limited range, in 1/65536: luma weights times 219/255, and chroma times 224/255.
constexpr int kHalf = 1 << 15;
constexpr int Weight(double value) {
  return static_cast<int>(value * 65536 + (value < 0 ? -0.5 : 0.5));
}
constexpr double kLuma = 219.0 / 255, kChroma = 224.0 / 255;
constexpr int kYr = Weight(0.2126 * kLuma), kYg = Weight(0.7152 * kLuma),
              kYb = Weight(0.0722 * kLuma);
constexpr int kUr = Weight(-0.2126 / 1.8556 * kChroma), kUg = Weight(-0.7152 / 1.8556 * kChroma),
              kUb = Weight(0.5 * kChroma);
constexpr int kVr = Weight(0.5 * kChroma), kVg = Weight(-0.7152 / 1.5748 * kChroma),
              kVb = Weight(-0.0722 / 1.5748 * kChroma);

uint8_t Luma(const uint8_t* p) {
  return static_cast<uint8_t>(16 + ((kYr * p[0] + kYg * p[1] + kYb * p[2] + kHalf) >> 16));
}

void ToI420(absl::Span<const uint8_t> rgb, size_t width, std::byte* out) {
  const size_t height = rgb.size() / 3 / width;
  auto* y = reinterpret_cast<uint8_t*>(out);
  uint8_t* u = y + width * height;
  uint8_t* v = u + width / 2 * (height / 2);
  for (size_t i = 0; i < width * height; ++i) y[i] = Luma(&rgb[3 * i]);
  for (size_t row = 0; row + 1 < height; row += 2) {
    for (size_t column = 0; column + 1 < width; column += 2) {
      const uint8_t* a = &rgb[(row * width + column) * 3];
      const uint8_t* b = a + width * 3;
      int sum[3];
      for (size_t c = 0; c < 3; ++c) sum[c] = a[c] + a[c + 3] + b[c] + b[c + 3];
      // The sum of four pixels: two bits more to shift.
      *u++ = static_cast<uint8_t>(128 +
                                  ((kUr * sum[0] + kUg * sum[1] + kUb * sum[2] + 4 * kHalf) >> 18));
      *v++ = static_cast<uint8_t>(128 +
                                  ((kVr * sum[0] + kVg * sum[1] + kVb * sum[2] + 4 * kHalf) >> 18));
    }
  }
}

}  // namespace

void AppendFrame(absl::Span<const uint8_t> rgb, int width, FrameFormat format,
                 std::vector<std::byte>& out) {
  const int height = static_cast<int>(rgb.size() / 3) / width;
  const size_t start = out.size();
  out.resize(start + static_cast<size_t>(FrameBytes(format, width, height)));
  std::byte* frame = out.data() + start;
  switch (format) {
    case FrameFormat::kI420:
      ToI420(rgb, static_cast<size_t>(width), frame);
      return;
    case FrameFormat::kRgb8:
      std::memcpy(frame, rgb.data(), rgb.size());
      return;
    case FrameFormat::kRgbF32:
      for (size_t i = 0; i < rgb.size(); ++i) {
        const float value = static_cast<float>(rgb[i]) / 255.0f;
        std::memcpy(frame + i * sizeof(value), &value, sizeof(value));
      }
      return;
  }
}

}  // namespace reel::model
