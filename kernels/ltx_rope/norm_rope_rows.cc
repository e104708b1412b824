// SPDX-License-Identifier: Apache-2.0
#include "kernels/ltx_rope/norm_rope_rows.h"

#include <cmath>

#include "kernels/rows/row_vectors.h"

namespace reel::kernels {
namespace {

REEL_INLINE float Rstd(const NormRopeRows& rows, const float* in) {
  const float squares = LaneSum(rows.width, [&](int64_t i) { return in[i] * in[i]; });
  return 1.0f / std::sqrt(squares / static_cast<float>(rows.width) + rows.eps);
}

REEL_INLINE void NormAndTurnHalves(const NormRopeRows& rows, const NormRopeSide& side,
                                   int64_t row) {
  const float* in = side.in + row * side.stride;
  const float rstd = Rstd(rows, in);
  const float* cos = rows.cos + row % rows.tokens * (rows.width / 2);
  const float* sin = rows.sin + row % rows.tokens * (rows.width / 2);
  const float* weight = side.weight;
  float* out = side.out + row * rows.width;
  for (int64_t head = 0; head < rows.width; head += 2 * rows.half) {
    for (int64_t i = head; i < head + rows.half; ++i, ++cos, ++sin) {
      const float first = in[i] * rstd * weight[i];
      const float second = in[i + rows.half] * rstd * weight[i + rows.half];
      out[i] = first * *cos - second * *sin;
      out[i + rows.half] = second * *cos + first * *sin;
    }
  }
}

REEL_INLINE void NormAndTurn(const NormRopeRows& rows, const NormRopeSide& side, int64_t row) {
  if (rows.half > 0) return NormAndTurnHalves(rows, side, row);
  const int64_t width = rows.width;
  const float* in = side.in + row * side.stride;
  const float* cos = rows.cos + row % rows.tokens * width;
  const float* sin = rows.sin + row % rows.tokens * width;
  float* out = side.out + row * width;
  const float rstd = Rstd(rows, in);
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
      if (rows.k.in != nullptr) NormAndTurn(rows, rows.k, row);
    }
  });
}

}  // namespace reel::kernels
