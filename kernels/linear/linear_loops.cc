// SPDX-License-Identifier: Apache-2.0
// The oracle: fp64 throughout, one rounding. Rows without columns give the bias.
#include <numeric>
#include <vector>

#include "kernels/linear/linear_launch.h"
#include "kernels/rows/e4m3_loops.h"
#include "kernels/rows/row_loops.h"

namespace reel::kernels {

void LinearLoops(const LinearParams& params) {
  const auto width = static_cast<size_t>(params.shape.width);
  const RowShape outputs{.rows = params.outputs, .width = params.shape.width, .dims = 1};
  std::vector<double> weight(static_cast<size_t>(params.outputs) * width);
  for (int64_t o = 0; o < params.outputs; ++o) {
    ReadInput(outputs, params.weight, o,
              std::span(weight).subspan(static_cast<size_t>(o) * width, width));
  }
  std::vector<double> bias(static_cast<size_t>(params.outputs)), weight_scale(bias.size());
  ReadRow({}, params.bias, 0, bias);
  ReadRow({}, params.weight_scale, 0, weight_scale, 1);
  std::vector<double> x(width), out(bias.size());
  double x_scale = 1;
  for (int64_t row = 0; row < params.shape.rows; ++row) {
    ReadInput(params.shape, params.x, row, x);
    ReadRow(params.shape, params.x_scale, row, std::span(&x_scale, 1), 1);
    for (size_t o = 0; o < out.size(); ++o) {
      const double product = std::inner_product(
          x.begin(), x.end(), weight.begin() + static_cast<ptrdiff_t>(o * width), 0.0);
      out[o] = product * x_scale * weight_scale[o] + bias[o];
    }
    WriteRow(params.shape, params.out, row, out);
  }
}

}  // namespace reel::kernels
