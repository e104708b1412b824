// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/row_loops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/base/float_types.h"

namespace reel::kernels {

void ReadRow(const RowShape& shape, const RowOperand& operand, int64_t row, std::span<double> out,
             double absent) {
  if (operand.data == nullptr) return std::fill(out.begin(), out.end(), absent);
  VisitFloating(operand.dtype, [&]<typename T>(T) {
    const T* data = static_cast<const T*>(operand.data) + RowOffset(shape, operand, row);
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<double>(ToFloat(data[static_cast<int64_t>(i) * operand.inner]));
    }
  });
}

void WriteRow(const RowShape& shape, const RowOperand& operand, int64_t row,
              std::span<const double> values) {
  VisitFloating(operand.dtype, [&]<typename T>(T) {
    T* data = static_cast<T*>(operand.data) + RowOffset(shape, operand, row);
    for (size_t i = 0; i < values.size(); ++i) {
      data[static_cast<int64_t>(i) * operand.inner] = RoundTo<T>(values[i]);
    }
  });
}

double Rounded(double value, Dtype dtype) {
  return VisitFloating(
      dtype, [&]<typename T>(T) { return static_cast<double>(ToFloat(RoundTo<T>(value))); });
}

double TimesSigmoid(double x, double z) { return x / (1 + std::exp(-z)); }

double GeluTanh(double x) {
  return TimesSigmoid(x, 2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x));
}

double SumOfSquares(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum > std::numeric_limits<float>::max() ? std::numeric_limits<double>::infinity() : sum;
}

}  // namespace reel::kernels
