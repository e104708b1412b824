// SPDX-License-Identifier: Apache-2.0
// The checked call of depth_to_space. Included by nvcc too.
#pragma once

#include <cstdint>

#include "kernels/base/dtype.h"
#include "kernels/rows/row_layout.h"

namespace reel::kernels {

// [B, F, H, W, C]; strides in elements.
struct FramesOperand {
  void* data = nullptr;
  int64_t strides[5] = {};
};

struct DepthToSpaceParams {
  Dtype dtype = Dtype::kF32;
  int64_t sizes[4] = {};          // of x: B, F, H, W
  int64_t channels = 0;           // C
  int64_t residual_channels = 1;  // R
  int64_t dropped = 0;            // frames
  FramesOperand x, residual, out;
  void* bias = nullptr;  // of the dtype
  int64_t bias_stride = 1;
};

// One pixel of x and one channel of out: they share eight values.
struct DepthToSpaceJob {
  int64_t at[4];  // b, f, y, x
  int64_t channel;
};

// The jobs of a pixel cover `step` channels each.
REEL_HOST_DEVICE inline DepthToSpaceJob DepthToSpaceJobAt(const DepthToSpaceParams& p, int64_t job,
                                                          int64_t step) {
  const auto split = [&job](int64_t size) {
    // 32 bits almost always, which is far cheaper on a device.
    const bool small = ((job | size) >> 32) == 0;
    const int64_t quotient =
        small ? static_cast<uint32_t>(job) / static_cast<uint32_t>(size) : job / size;
    const int64_t rest = job - quotient * size;
    job = quotient;
    return rest;
  };
  DepthToSpaceJob place{};
  place.channel = split(p.channels / step) * step;
  for (int d = 3; d > 0; --d) place.at[d] = split(p.sizes[d]);
  place.at[0] = job;
  return place;
}

REEL_HOST_DEVICE inline int64_t OffsetOf(const FramesOperand& operand, const int64_t (&at)[4],
                                         int64_t channel) {
  int64_t offset = channel * operand.strides[4];
  for (int d = 0; d < 4; ++d) offset += at[d] * operand.strides[d];
  return offset;
}

// The pixel of out for value n of 8; false: its frame is dropped.
REEL_HOST_DEVICE inline bool OutOffsetOf(const DepthToSpaceParams& p, const DepthToSpaceJob& job,
                                         int n, int64_t& offset) {
  const int64_t at[4] = {job.at[0], 2 * job.at[1] + n / 4 - p.dropped, 2 * job.at[2] + n / 2 % 2,
                         2 * job.at[3] + n % 2};
  offset = OffsetOf(p.out, at, job.channel);
  return at[1] >= 0;
}

inline int64_t DepthToSpacePixels(const DepthToSpaceParams& p) {
  return p.sizes[0] * p.sizes[1] * p.sizes[2] * p.sizes[3];
}

void DepthToSpaceLoops(const DepthToSpaceParams& params);
bool DepthToSpacePairsAccept(const DepthToSpaceParams& params);
int32_t LaunchDepthToSpaceGeneric(const DepthToSpaceParams& params, void* stream);
int32_t LaunchDepthToSpaceSm80(const DepthToSpaceParams& params, void* stream);

}  // namespace reel::kernels
