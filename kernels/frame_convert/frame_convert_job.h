// SPDX-License-Identifier: Apache-2.0
// Computes one job of frame_convert, the same for every variant: the order of fp32 operations here
// is the definition. For the .cc and the .cu file.
#pragma once

#include <cmath>

#include "kernels/frame_convert/frame_convert_launch.h"

#ifdef __CUDACC__
#define REEL_FRAME_FUNCTION __device__ inline
#else
#define REEL_FRAME_FUNCTION inline
#endif

namespace reel::kernels {

struct Rgb {
  float r, g, b;
};

// NaN becomes 0.
REEL_FRAME_FUNCTION float CutToUnit(float value) {
  return value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f;
}

REEL_FRAME_FUNCTION uint8_t ToByte(float value) {
  const float cut = value > 0.0f ? (value < 255.0f ? value : 255.0f) : 0.0f;
  return static_cast<uint8_t>(rintf(cut));  // half to even
}

REEL_FRAME_FUNCTION int64_t PixelOffset(const FrameConvertParams& p, int64_t frame, int64_t y,
                                        int64_t x, int channel) {
  if (!p.patched) {
    return frame * p.strides[0] + y * p.strides[1] + x * p.strides[2] + channel * p.strides[3];
  }
  const int64_t place = 16 * channel + 4 * (x % 4) + y % 4;
  return frame * p.strides[0] + y / 4 * p.strides[1] + x / 4 * p.strides[2] + place * p.strides[3];
}

REEL_FRAME_FUNCTION void Put(const FramePlane& plane, int64_t frame, int64_t row, int64_t column,
                             float value) {
  plane.data[frame * plane.frame + row * plane.row + column * plane.column] = ToByte(value);
}

// `read(offset)` returns an element of the frames in [0,1].
template <typename Read>
REEL_FRAME_FUNCTION Rgb ReadPixel(const FrameConvertParams& p, const Read& read, int64_t frame,
                                  int64_t y, int64_t x) {
  // Edges repeat.
  y = y < p.height ? y : p.height - 1;
  x = x < 0 ? 0 : (x < p.width ? x : p.width - 1);
  return {read(PixelOffset(p, frame, y, x, 0)), read(PixelOffset(p, frame, y, x, 1)),
          read(PixelOffset(p, frame, y, x, 2))};
}

REEL_FRAME_FUNCTION float Luma(const FrameConvertParams& p, const Rgb& rgb) {
  return p.red * rgb.r + (1.0f - p.red - p.blue) * rgb.g + p.blue * rgb.b;
}

// The mean of the pixels around a chroma sample.
template <typename Read>
REEL_FRAME_FUNCTION Rgb AroundSample(const FrameConvertParams& p, const Read& read, int64_t frame,
                                     int64_t y, int64_t x) {
  Rgb sum{0, 0, 0};
  for (int dy = 0; dy < 2; ++dy) {
    for (int dx = p.center_chroma ? 0 : -1; dx < 2; ++dx) {
      const float weight = p.center_chroma ? 0.25f : (dx == 0 ? 0.25f : 0.125f);
      const Rgb pixel = ReadPixel(p, read, frame, y + dy, x + dx);
      sum.r += weight * pixel.r;
      sum.g += weight * pixel.g;
      sum.b += weight * pixel.b;
    }
  }
  return sum;
}

template <typename Read>
REEL_FRAME_FUNCTION void ConvertYuv(const FrameConvertParams& p, const Read& read, int64_t job) {
  const int64_t columns = (p.width + 1) / 2;
  const int64_t rows = (p.height + 1) / 2;
  const int64_t frame = job / (rows * columns);
  const int64_t y = job / columns % rows * 2;
  const int64_t x = job % columns * 2;
  for (int64_t py = y; py < y + 2 && py < p.height; ++py) {
    for (int64_t px = x; px < x + 2 && px < p.width; ++px) {
      const float luma = Luma(p, ReadPixel(p, read, frame, py, px));
      Put(p.planes[0], frame, py, px, p.luma_offset + p.luma_scale * luma);
    }
  }
  const Rgb mean = AroundSample(p, read, frame, y, x);
  const float luma = Luma(p, mean);
  Put(p.planes[1], frame, y / 2, x / 2,
      128.0f + p.chroma_scale * (mean.b - luma) / (2.0f * (1.0f - p.blue)));
  Put(p.planes[2], frame, y / 2, x / 2,
      128.0f + p.chroma_scale * (mean.r - luma) / (2.0f * (1.0f - p.red)));
}

template <typename Read>
REEL_FRAME_FUNCTION void ConvertJob(const FrameConvertParams& p, const Read& read, int64_t job) {
  if (p.yuv) return ConvertYuv(p, read, job);
  const int64_t frame = job / (p.height * p.width);
  const int64_t y = job / p.width % p.height;
  const int64_t x = job % p.width;
  const Rgb pixel = ReadPixel(p, read, frame, y, x);
  Put(p.planes[0], frame, y, x, 255.0f * pixel.r);
  Put(p.planes[1], frame, y, x, 255.0f * pixel.g);
  Put(p.planes[2], frame, y, x, 255.0f * pixel.b);
}

}  // namespace reel::kernels
