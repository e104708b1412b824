// SPDX-License-Identifier: Apache-2.0
// The oracle: fp64 products with the table's fp32 values, one rounding.
#include <cmath>
#include <vector>

#include "kernels/base/float_types.h"
#include "kernels/ltx_rope/ltx_rope_launch.h"
#include "kernels/rows/row_loops.h"

namespace reel::kernels {
namespace {

int64_t ChannelOffset(const LtxRopeParams& params, const RowOperand& operand, int64_t head_stride,
                      int64_t row, int64_t channel) {
  return RowOffset(params.shape, operand, row) + channel / params.head_width * head_stride +
         channel % params.head_width * operand.inner;
}

struct Angles {
  std::vector<double> cos;
  std::vector<double> sin;
};

// The angles of each channel, from either form of the table; without a table nothing is rotated.
Angles AnglesOf(const LtxRopeParams& params, int64_t row) {
  const auto width = static_cast<size_t>(params.shape.width);
  Angles angles{std::vector<double>(width, 1), std::vector<double>(width, 0)};
  if (params.cos.data != nullptr) {
    ReadRow(params.shape, params.cos, row, angles.cos);
    ReadRow(params.shape, params.sin, row, angles.sin);
  }
  if (params.cos_sin == nullptr) return angles;
  const auto* index =
      static_cast<const int32_t*>(params.index.data) + RowOffset(params.shape, params.index, row);
  const int64_t unturned = UnturnedPairs(params);
  for (int64_t angle = 0; angle < params.axes * params.frequencies; ++angle) {
    const int64_t axis = angle % params.axes;
    const int64_t entry =
        index[axis * params.index.inner] * params.frequencies + angle / params.axes;
    const auto [first, second] = PairAt(params, unturned + angle);
    for (const auto c : {static_cast<size_t>(first), static_cast<size_t>(second)}) {
      angles.cos[c] = static_cast<double>(params.cos_sin[2 * entry]);
      angles.sin[c] = static_cast<double>(params.cos_sin[2 * entry + 1]);
    }
  }
  return angles;
}

template <typename T>
void Row(const LtxRopeParams& params, const LtxRopeSide& side, int64_t row, const Angles& angles) {
  const auto width = static_cast<size_t>(params.shape.width);
  std::vector<double> x(width);
  for (size_t c = 0; c < width; ++c) {
    const int64_t at =
        ChannelOffset(params, side.in, side.in_head_stride, row, static_cast<int64_t>(c));
    x[c] = static_cast<double>(ToFloat(static_cast<const T*>(side.in.data)[at]));
  }
  if (params.statistic == Statistic::kMeanSquare) {
    std::vector<double> weight(width);
    ReadRow(params.shape, side.weight, row, weight, 1);
    const double rstd = 1 / std::sqrt(SumOfSquares(x) / static_cast<double>(width) +
                                      static_cast<double>(params.eps));
    for (size_t c = 0; c < width; ++c) x[c] *= rstd * weight[c];
  }
  std::vector<double> turned(width);
  for (int64_t pair = 0; pair < params.shape.width / 2; ++pair) {
    const auto [first, second] = PairAt(params, pair);
    turned[static_cast<size_t>(first)] = -x[static_cast<size_t>(second)];
    turned[static_cast<size_t>(second)] = x[static_cast<size_t>(first)];
  }
  for (size_t c = 0; c < width; ++c) {
    const double y = angles.sin[c] == 0 && angles.cos[c] == 1
                         ? x[c]
                         : x[c] * angles.cos[c] + turned[c] * angles.sin[c];
    const int64_t at =
        ChannelOffset(params, side.out, side.out_head_stride, row, static_cast<int64_t>(c));
    static_cast<T*>(side.out.data)[at] = RoundTo<T>(y);
  }
}

}  // namespace

void LtxRopeLoops(const LtxRopeParams& params) {
  for (int64_t row = 0; row < params.shape.rows; ++row) {
    const Angles angles = AnglesOf(params, row);
    for (int side = 0; side < params.sides; ++side) {
      VisitFloating(params.side[side].in.dtype,
                    [&]<typename T>(T) { Row<T>(params, params.side[side], row, angles); });
    }
  }
}

}  // namespace reel::kernels
