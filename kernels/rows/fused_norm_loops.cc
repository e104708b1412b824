// SPDX-License-Identifier: Apache-2.0
// The oracle of the fused norms: fp64 throughout, one rounding at each store.
#include <cmath>
#include <vector>

#include "kernels/rows/e4m3_loops.h"
#include "kernels/rows/fused_norm.h"
#include "kernels/rows/row_loops.h"

namespace reel::kernels {
namespace {

using Row = std::vector<double>;

Row RowOf(const FusedNormParams& params, const RowOperand& operand, int64_t row) {
  Row values(static_cast<size_t>(params.shape.width));
  ReadRow(params.shape, operand, row, values);
  return values;
}

// A row's vector plus its bias; `absent`, without the bias, if there is none.
Row Biased(const FusedNormParams& params, const RowOperand& operand, const RowOperand& bias,
           int64_t row, double absent) {
  const RowShape shape = VectorShape(params);
  Row values(static_cast<size_t>(params.shape.width));
  ReadRow(shape, operand, VectorRow(params, row), values, absent);
  if (operand.data == nullptr || bias.data == nullptr) return values;
  Row addend(values.size());
  ReadRow(shape, bias, VectorRow(params, row), addend);
  for (size_t i = 0; i < values.size(); ++i) values[i] += addend[i];
  return values;
}

Row Combined(const FusedNormParams& params, int64_t row) {
  Row v = RowOf(params, params.x, row);
  if (params.residual.data == nullptr) return v;
  const Row residual = RowOf(params, params.residual, row);
  const Row gate = Biased(params, params.residual_gate, params.residual_gate_bias, row, 1);
  for (size_t i = 0; i < v.size(); ++i) v[i] += residual[i] * gate[i];
  return v;
}

void Normalise(const FusedNormParams& params, Row& v) {
  if (params.statistic == Statistic::kNone) return;
  const auto width = static_cast<double>(v.size());
  if (params.statistic == Statistic::kVariance) {
    double mean = 0;
    for (const double value : v) mean += value / width;
    for (double& value : v) value -= mean;
  }
  const double rstd = 1 / std::sqrt(SumOfSquares(v) / width + static_cast<double>(params.eps));
  for (double& value : v) value *= rstd;
}

}  // namespace

void FusedNormLoops(const FusedNormParams& params) {
  for (int64_t row = 0; row < params.shape.rows; ++row) {
    Row v = Combined(params, row);
    if (params.sum.data != nullptr) WriteRow(params.shape, params.sum, row, v);
    if (params.out.data == nullptr) continue;
    Normalise(params, v);
    const Row weight = Biased(params, params.weight, {}, row, 1);
    const Row bias = Biased(params, params.bias, {}, row, kNoAddend);
    const Row scale = Biased(params, params.scale, params.scale_bias, row, 0);
    const Row shift = Biased(params, params.shift, params.shift_bias, row, kNoAddend);
    const Row gate = Biased(params, params.gate, params.gate_bias, row, 1);
    for (size_t i = 0; i < v.size(); ++i) {
      v[i] = ((v[i] * weight[i] + bias[i]) * (1 + scale[i]) + shift[i]) * gate[i];
    }
    WriteOutput(params.shape, params.out, params.out_scale, row, v);
  }
}

}  // namespace reel::kernels
