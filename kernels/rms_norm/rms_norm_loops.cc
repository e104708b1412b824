// SPDX-License-Identifier: Apache-2.0
// The oracle: fp64 throughout, one rounding.
#include <cmath>
#include <vector>

#include "kernels/rms_norm/rms_norm_launch.h"
#include "kernels/rows/e4m3_loops.h"
#include "kernels/rows/row_loops.h"

namespace reel::kernels {

void RmsNormLoops(const RmsNormParams& params) {
  const auto width = static_cast<size_t>(params.shape.width);
  const double offset = params.weight.data == nullptr ? 0 : params.weight_offset;
  std::vector<double> x(width);
  std::vector<double> weight(width);
  std::vector<double> bias(width);
  for (int64_t row = 0; row < params.shape.rows; ++row) {
    ReadRow(params.shape, params.x, row, x);
    ReadRow(params.shape, params.weight, row, weight, 1);
    ReadRow(params.shape, params.bias, row, bias, kNoAddend);
    const double mean_square = SumOfSquares(x) / static_cast<double>(width);
    const double rstd = 1 / std::sqrt(mean_square + static_cast<double>(params.eps));
    for (size_t i = 0; i < width; ++i) {
      double normed = x[i] * rstd;
      if (params.round_before_weight) normed = Rounded(normed, params.x.dtype);
      x[i] = normed * (weight[i] + offset) + bias[i];
    }
    WriteOutput(params.shape, params.out, params.out_scale, row, x);
  }
}

}  // namespace reel::kernels
