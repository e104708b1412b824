// SPDX-License-Identifier: Apache-2.0
// Shared parts of the `loops` variants: rows of any strides and type, read to fp64 and rounded
// once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/rows/row_layout.h"

namespace reel::kernels {

// Elements of one row into `out`, whose size says how many; `absent` where there is no operand.
void ReadRow(const RowShape& shape, const RowOperand& operand, int64_t row, std::span<double> out,
             double absent = 0);
void WriteRow(const RowShape& shape, const RowOperand& operand, int64_t row,
              std::span<const double> values);

// One rounding to `dtype` and back.
double Rounded(double value, Dtype dtype);

double TimesSigmoid(double x, double z);  // x / (1 + exp(-z))
double GeluTanh(double x);

// Sum of squares as fp32 has it where it overflows: rows above ~1.8e19 give infinity.
double SumOfSquares(std::span<const double> values);

}  // namespace reel::kernels
