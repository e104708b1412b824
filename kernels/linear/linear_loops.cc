// SPDX-License-Identifier: Apache-2.0
// The oracle: fp64 throughout, one rounding. Rows without columns give the bias.
#include <numeric>
#include <vector>

#include "kernels/linear/linear_launch.h"
#include "kernels/rows/row_loops.h"

namespace reel::kernels {

void LinearLoops(const LinearParams& params) {
  const auto width = static_cast<size_t>(params.shape.width);
  const RowShape outputs{.rows = params.outputs, .width = params.shape.width, .dims = 1};
  std::vector<double> weight(static_cast<size_t>(params.outputs) * width);
  for (int64_t o = 0; o < params.outputs; ++o) {
    ReadRow(outputs, params.weight, o,
            std::span(weight).subspan(static_cast<size_t>(o) * width, width));
  }
  std::vector<double> bias(static_cast<size_t>(params.outputs));
  ReadRow({}, params.bias, 0, bias);
  std::vector<double> x(width), out(bias.size());
  for (int64_t row = 0; row < params.shape.rows; ++row) {
    ReadRow(params.shape, params.x, row, x);
    for (size_t o = 0; o < out.size(); ++o) {
      out[o] = std::inner_product(x.begin(), x.end(),
                                  weight.begin() + static_cast<ptrdiff_t>(o * width), bias[o]);
    }
    WriteRow(params.shape, params.out, row, out);
  }
}

}  // namespace reel::kernels
