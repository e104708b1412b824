// SPDX-License-Identifier: Apache-2.0
// qk_norm_rope of some rows of fp32 on a CPU, for who divides them among threads of its own.
#pragma once

#include <cstdint>

namespace reel::kernels {

// Queries or keys [rows, width], whose rows may lie apart, and their weight [width].
struct NormRopeSide {
  const float* in;
  int64_t stride;  // from one row to the next
  const float* weight;
  float* out;
};

// Row r is of token r mod `tokens`, whose cosines and sines stand in row r mod `tokens` of both
// tables, one for each channel; `width` is even.
struct NormRopeRows {
  NormRopeSide q, k;
  const float* cos;
  const float* sin;
  int64_t tokens = 0, width = 0;
  float eps = 0;
};

void ComputeNormRopeRows(const NormRopeRows& rows, int64_t first, int64_t end);

}  // namespace reel::kernels
