// SPDX-License-Identifier: Apache-2.0
// The oracle: fp64 throughout, the variance in two passes, one rounding. Rows without columns have
// no product: their outputs are the bias.
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/norm_linear/norm_linear_launch.h"
#include "kernels/rows/row_loops.h"

namespace reel::kernels {
namespace {

struct Statistics {
  double mean = 0;
  double rstd = 0;
};

Statistics StatisticsOf(const NormLinearParams& params, std::vector<double> x) {
  if (x.empty()) return {};
  const auto width = static_cast<double>(x.size());
  Statistics statistics;
  if (params.sums.data != nullptr) {
    statistics.mean = std::accumulate(x.begin(), x.end(), 0.0) / width;
    for (double& value : x) value -= statistics.mean;
  }
  statistics.rstd = 1 / std::sqrt(SumOfSquares(x) / width + static_cast<double>(params.eps));
  return statistics;
}

// A vector over the outputs.
std::vector<double> ReadVector(const RowOperand& operand, int64_t size) {
  std::vector<double> values(static_cast<size_t>(size));
  ReadRow({}, operand, 0, values);
  return values;
}

}  // namespace

void NormLinearLoops(const NormLinearParams& params) {
  const RowShape outputs{.rows = params.outputs, .width = params.shape.width, .dims = 1};
  const std::vector<double> bias = ReadVector(params.bias, params.outputs);
  const std::vector<double> sums = ReadVector(params.sums, params.outputs);
  std::vector<double> x(static_cast<size_t>(params.shape.width));
  std::vector<double> weight(x.size());
  std::vector<double> out(bias.size());
  for (int64_t row = 0; row < params.shape.rows; ++row) {
    ReadRow(params.shape, params.x, row, x);
    const Statistics statistics = StatisticsOf(params, x);
    for (size_t o = 0; o < out.size(); ++o) {
      ReadRow(outputs, params.weight, static_cast<int64_t>(o), weight);
      const double product = std::inner_product(x.begin(), x.end(), weight.begin(), 0.0);
      out[o] = statistics.rstd * (product - statistics.mean * sums[o]) + bias[o];
    }
    WriteRow(params.shape, params.out, row, out);
  }
}

void PrepareNormLinearLoops(const PrepareNormLinearParams& params) {
  const auto width = static_cast<size_t>(params.shape.width);
  const auto outputs = static_cast<size_t>(params.shape.rows);
  std::vector<double> weight(width), norm_weight(width), norm_bias(width);
  std::vector<double> bias = ReadVector(params.bias, params.shape.rows);
  std::vector<double> sums(outputs);
  ReadRow(params.shape, params.norm_weight, 0, norm_weight, 1);
  ReadRow(params.shape, params.norm_bias, 0, norm_bias);
  for (size_t o = 0; o < outputs; ++o) {
    ReadRow(params.shape, params.weight, static_cast<int64_t>(o), weight);
    bias[o] = std::inner_product(weight.begin(), weight.end(), norm_bias.begin(), bias[o]);
    for (size_t i = 0; i < width; ++i) {
      weight[i] = Rounded(weight[i] * norm_weight[i], params.folded.dtype);
    }
    sums[o] = std::accumulate(weight.begin(), weight.end(), 0.0);
    WriteRow(params.shape, params.folded, static_cast<int64_t>(o), weight);
  }
  if (params.folded_bias.data != nullptr) WriteRow({}, params.folded_bias, 0, bias);
  if (params.sums.data != nullptr) WriteRow({}, params.sums, 0, sums);
}

}  // namespace reel::kernels
