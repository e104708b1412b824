// SPDX-License-Identifier: Apache-2.0
// Describes a tensor as rows: how row operators address x [..., D] and the vectors that broadcast
// over it. Included by nvcc too: plain structs.
#pragma once

#include <cstdint>

#include "kernels/base/dtype.h"

#ifdef __CUDACC__
#define REEL_HOST_DEVICE __host__ __device__
#else
#define REEL_HOST_DEVICE
#endif

namespace reel::kernels {

inline constexpr int kMaxRowDims = 5;

// The leading dims of a call, merged as far as all its operands allow; row-major order of rows.
struct RowShape {
  int64_t rows = 1;
  int64_t width = 0;
  int32_t dims = 0;
  int64_t sizes[kMaxRowDims] = {};
};

// One operand; null data: absent. Strides are in elements, and 0 for leading dims that a vector is
// broadcast over.
struct RowOperand {
  void* data = nullptr;
  Dtype dtype = Dtype::kF32;
  int64_t inner = 1;
  int64_t strides[kMaxRowDims] = {};
};

// Replaces an absent operand that is added: x + -0 is x, also for -0.
inline constexpr float kNoAddend = -0.0f;

// Elements from the operand's data to its row.
REEL_HOST_DEVICE inline int64_t RowOffset(const RowShape& shape, const RowOperand& operand,
                                          int64_t row) {
  if (shape.dims <= 1) return row * operand.strides[0];
  int64_t offset = 0;
  for (int32_t d = shape.dims; d-- > 0;) {
    const int64_t quotient = row / shape.sizes[d];
    offset += (row - quotient * shape.sizes[d]) * operand.strides[d];
    row = quotient;
  }
  return offset;
}

}  // namespace reel::kernels
