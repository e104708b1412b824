// SPDX-License-Identifier: Apache-2.0
// Addresses heads for the attention kernels. For .cu files.
#pragma once

#include <cstdint>

#include "kernels/attention/attention_launch.h"

namespace reel::kernels {

inline constexpr float kLog2E = 1.44269504f;

// The first row of a head.
template <typename T>
__device__ T* HeadOf(const AttentionOperand& operand, int64_t batch, int64_t head) {
  return static_cast<T*>(operand.data) + batch * operand.strides[0] + head * operand.strides[2];
}

}  // namespace reel::kernels
