// SPDX-License-Identifier: Apache-2.0
// The oracle: fp64 throughout, one rounding.
#include <cmath>
#include <vector>

#include "kernels/base/float_types.h"
#include "kernels/channel_norm_silu/channel_norm_silu_launch.h"
#include "kernels/rows/row_loops.h"

namespace reel::kernels {
namespace {

// Writes the row to its place and to every pad that it fills.
void WriteCopies(const ChannelNormSiluParams& params, int64_t row,
                 const std::vector<double>& values) {
  const Copies copies = CopiesOf(params, row);
  for (int64_t frame = -copies.front; frame <= copies.back; ++frame) {
    RowOperand out = params.out;
    out.data = static_cast<char*>(out.data) +
               frame * params.out_frame_stride * DtypeSize(params.out.dtype);
    WriteRow(params.shape, out, row, values);
  }
}

}  // namespace

void ChannelNormSiluLoops(const ChannelNormSiluParams& params) {
  const auto width = static_cast<size_t>(params.shape.width);
  std::vector<double> x(width);
  std::vector<double> residual(width);
  std::vector<double> bias(width);
  std::vector<double> scale(width);
  std::vector<double> shift(width);
  for (int64_t row = 0; row < params.shape.rows; ++row) {
    ReadRow(params.shape, params.x, row, x);
    ReadRow(params.shape, params.residual, row, residual, kNoAddend);
    ReadRow(params.shape, params.bias, row, bias, kNoAddend);
    for (size_t i = 0; i < width; ++i) x[i] += residual[i] + bias[i];
    if (params.sum.data != nullptr) WriteRow(params.shape, params.sum, row, x);
    ReadRow(params.shape, params.scale, row, scale);
    ReadRow(params.shape, params.shift, row, shift, kNoAddend);
    const double rstd = 1 / std::sqrt(SumOfSquares(x) / static_cast<double>(width) +
                                      static_cast<double>(params.eps));
    for (size_t i = 0; i < width; ++i) {
      x[i] = x[i] * rstd * (1 + scale[i]) + shift[i];
      if (params.silu) x[i] /= 1 + std::exp(-x[i]);
    }
    WriteCopies(params, row, x);
  }
}

}  // namespace reel::kernels
