// SPDX-License-Identifier: Apache-2.0
// The checked call of frame_convert. Included by nvcc too.
#pragma once

#include <cstdint>

#include "kernels/base/dtype.h"

namespace reel::kernels {

// A plane of bytes: [F, rows, columns], strides in bytes.
struct FramePlane {
  uint8_t* data = nullptr;
  int64_t frame = 0;
  int64_t row = 0;
  int64_t column = 0;
};

struct FrameConvertParams {
  const void* in = nullptr;
  Dtype dtype = Dtype::kF32;
  int64_t frames = 0;
  int64_t height = 0;  // pixels
  int64_t width = 0;
  bool patched = false;
  int64_t strides[4] =
      {};  // of frame, row, column (of patches where patched) and channel, in elements
  bool yuv = false;
  FramePlane planes[3];  // r, g, b; or y, u, v
  bool exact = false;
  bool center_chroma = false;
  float red = 0;  // weights of luma
  float blue = 0;
  float luma_offset = 0;   // 16 or 0
  float luma_scale = 0;    // 219 or 255
  float chroma_scale = 0;  // 224 or 255
};

// A job is one pixel of RGB, or the four that share a chroma sample.
inline int64_t FrameJobs(const FrameConvertParams& p) {
  if (!p.yuv) return p.frames * p.height * p.width;
  return p.frames * ((p.height + 1) / 2) * ((p.width + 1) / 2);
}

struct HostThreads;

void FrameConvertLoops(const FrameConvertParams& params);
void FrameConvertCpu(const FrameConvertParams& params, const HostThreads* threads);
bool FrameConvertTileAccepts(const FrameConvertParams& params);
int32_t LaunchFrameConvertGeneric(const FrameConvertParams& params, void* stream);
int32_t LaunchFrameConvertSm80(const FrameConvertParams& params, void* stream);

}  // namespace reel::kernels
