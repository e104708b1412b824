// SPDX-License-Identifier: Apache-2.0
// The checked call of conv3d, and its variants. Included by nvcc too.
#pragma once

#include <cstdint>

#include "kernels/base/dtype.h"

namespace reel::kernels {

// Five dimensions; strides in elements.
struct VolumeOperand {
  void* data = nullptr;
  Dtype dtype = Dtype::kF32;
  int64_t sizes[5] = {};
  int64_t strides[5] = {};
};

struct Conv3dParams {
  VolumeOperand x;
  VolumeOperand weight;
  VolumeOperand out;
  void* bias = nullptr;  // or absent
  Dtype bias_dtype = Dtype::kF32;
  int64_t bias_stride = 0;
  int64_t stride[3] = {1, 1, 1};
  int64_t padding[3] = {};
};

void Conv3dLoops(const Conv3dParams& params);

}  // namespace reel::kernels
