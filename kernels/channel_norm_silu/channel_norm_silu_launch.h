// SPDX-License-Identifier: Apache-2.0
// The checked call of channel_norm_silu. Included by nvcc too.
#pragma once

#include "kernels/rows/row_layout.h"

namespace reel::kernels {

struct ChannelNormSiluParams {
  RowShape shape;     // a row is a pixel of x
  RowOperand x, out;  // out begins at the frame after the front padding
  RowOperand residual, bias, sum;
  RowOperand scale, shift;
  int64_t frames = 0;
  int64_t frame_rows = 0;        // pixels of a frame
  int64_t out_frame_stride = 0;  // elements between frames of out
  int64_t pad_front = 0;
  int64_t pad_back = 0;
  bool silu = true;
  float eps = 0;
};

struct HostThreads;

void ChannelNormSiluCpu(const ChannelNormSiluParams& params, const HostThreads* threads);
void ChannelNormSiluLoops(const ChannelNormSiluParams& params);
bool ChannelNormSiluVectorAccepts(const ChannelNormSiluParams& params);
int32_t LaunchChannelNormSiluGeneric(const ChannelNormSiluParams& params, void* stream);
int32_t LaunchChannelNormSiluSm80(const ChannelNormSiluParams& params, void* stream);

// How often a row is written before its own place, and after it.
struct Copies {
  int64_t front;
  int64_t back;
};
REEL_HOST_DEVICE inline Copies CopiesOf(const ChannelNormSiluParams& params, int64_t row) {
  const int64_t frame = row / params.frame_rows % params.frames;
  return {frame == 0 ? params.pad_front : 0, frame == params.frames - 1 ? params.pad_back : 0};
}

}  // namespace reel::kernels
