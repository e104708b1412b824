// SPDX-License-Identifier: Apache-2.0
// The activations as fp32 functions. For .cu files.
#pragma once

#include "kernels/activation/activation_launch.h"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {

template <Activation kKind>
__device__ inline float Activated(float x, float threshold = 0) {
  switch (kKind) {
    case Activation::kGeluErf:
      return 0.5f * x * erfcf(-0.707106781f * x);
    case Activation::kGeluTanh:
      return GeluTanh(x);
    case Activation::kGeluQuick:
      return TimesSigmoid(x, 1.702f * x);
    case Activation::kSilu:
      return TimesSigmoid(x, x);
    case Activation::kFatRelu:
      return x <= threshold ? 0.0f : x;
  }
  return x;
}

}  // namespace reel::kernels
