// SPDX-License-Identifier: Apache-2.0
// The oracle: fp64 and libm, one rounding.
#include <cmath>
#include <numbers>
#include <vector>

#include "kernels/activation/activation_launch.h"
#include "kernels/rows/e4m3_loops.h"
#include "kernels/rows/row_loops.h"

namespace reel::kernels {
namespace {

double Activated(const ActivationParams& params, double x) {
  switch (params.kind) {
    case Activation::kGeluErf:
      return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case Activation::kGeluTanh:
      return GeluTanh(x);
    case Activation::kGeluQuick:
      return TimesSigmoid(x, 1.702 * x);
    case Activation::kSilu:
      return TimesSigmoid(x, x);
    case Activation::kFatRelu:
      return x <= params.threshold ? 0 : x;
  }
  return x;
}

}  // namespace

void ActivationLoops(const ActivationParams& params) {
  const auto width = static_cast<size_t>(params.shape.width);
  std::vector<double> x(width);
  std::vector<double> other(width);
  for (int64_t row = 0; row < params.shape.rows; ++row) {
    ReadRow(params.shape, params.x, row, x);
    ReadRow(params.shape, params.bias, row, other, kNoAddend);
    for (size_t i = 0; i < width; ++i) x[i] = Activated(params, x[i] + other[i]);
    ReadRow(params.shape, params.value, row, other, 1);
    for (size_t i = 0; i < width; ++i) x[i] *= other[i];
    WriteOutput(params.shape, params.out, params.out_scale, row, x);
  }
}

}  // namespace reel::kernels
