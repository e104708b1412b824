// SPDX-License-Identifier: Apache-2.0
// Shared code of the `loops` variants: reads rows of any strides and type to fp64, and rounds once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/rows/row_layout.h"

namespace reel::kernels {

// Reads elements of one row into `out`, whose size is their number; `absent` if there is no
// operand.
void ReadRow(const RowShape& shape, const RowOperand& operand, int64_t row, std::span<double> out,
             double absent = 0);
void WriteRow(const RowShape& shape, const RowOperand& operand, int64_t row,
              std::span<const double> values);

// Rounds to `dtype` and back.
double Rounded(double value, Dtype dtype);

double TimesSigmoid(double x, double z);  // x / (1 + exp(-z))
double GeluTanh(double x);

// A sum of squares that overflows where fp32 does: rows above ~1.8e19 give infinity.
double SumOfSquares(std::span<const double> values);

}  // namespace reel::kernels
