// SPDX-License-Identifier: Apache-2.0
// Computes qk_norm_rope for some rows of fp32 on a CPU, for callers that divide rows among their
// own threads.
#pragma once

#include <cstdint>

namespace reel::kernels {

// Queries or keys [rows, width], whose rows may have gaps, and their weight [width].
struct NormRopeSide {
  const float* in = nullptr;
  int64_t stride = 0;  // from one row to the next
  const float* weight = nullptr;
  float* out = nullptr;
};

// Row r belongs to token r mod `tokens`. Its cosines and sines are in that row of both tables, one
// for each channel, or for each pair of split heads. `width` is even.
struct NormRopeRows {
  NormRopeSide q;
  NormRopeSide k = {};  // without data: q alone
  const float* cos;
  const float* sin;
  int64_t tokens = 0, width = 0;
  float eps = 0;
  int64_t half = 0;  // of a split head, as in LtxRopeParams; 0: pairs of neighbours
};

void ComputeNormRopeRows(const NormRopeRows& rows, int64_t first, int64_t end);

}  // namespace reel::kernels
