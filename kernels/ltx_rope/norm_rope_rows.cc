// SPDX-License-Identifier: Apache-2.0
#include "kernels/ltx_rope/norm_rope_rows.h"

#include <cmath>

#include "kernels/rows/row_vectors.h"

namespace reel::kernels {
namespace {

REEL_INLINE void NormAndTurn(const NormRopeRows& rows, const NormRopeSide& side, int64_t row) {
  const int64_t width = rows.width;
  const float* in = side.in + row * side.stride;
  const float* cos = rows.cos + row % rows.tokens * width;
  const float* sin = rows.sin + row % rows.tokens * width;
  float* out = side.out + row * width;
  const float squares = LaneSum(width, [&](int64_t i) { return in[i] * in[i]; });
  const float rstd = 1.0f / std::sqrt(squares / static_cast<float>(width) + rows.eps);
  for (int64_t i = 0; i < width; i += 2) {
    const float even = in[i] * rstd * side.weight[i];
    const float odd = in[i + 1] * rstd * side.weight[i + 1];
    out[i] = even * cos[i] - odd * sin[i];
    out[i + 1] = odd * cos[i + 1] + even * sin[i + 1];
  }
}

}  // namespace

void ComputeNormRopeRows(const NormRopeRows& rows, int64_t first, int64_t end) {
  WithWidestVectors([&] {
    for (int64_t row = first; row < end; ++row) {
      NormAndTurn(rows, rows.q, row);
      NormAndTurn(rows, rows.k, row);
    }
  });
}

}  // namespace reel::kernels
