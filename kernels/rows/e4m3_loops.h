// SPDX-License-Identifier: Apache-2.0
// Converts rows to e4m3 for `loops` variants: the oracle of e4m3_layout.h.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/rows/e4m3_layout.h"

namespace reel::kernels {

// A row's own scale; values are rounded to fp32 first.
float E4m3ScaleOf(std::span<const double> values);
// The codes of a row.
void WriteE4m3Row(const RowShape& shape, const RowOperand& out, int64_t row,
                  std::span<const double> values, float scale);

// The value of a code; e4m3 has a NaN and no infinity.
double FromE4m3(uint8_t code);
// Reads a row of an operator's input: of a floating type, or values of codes in e4m3 or int8.
void ReadInput(const RowShape& shape, const RowOperand& operand, int64_t row,
               std::span<double> out);

// Writes a row of an operator's output: of a floating type with one rounding, or codes with their
// scale.
void WriteOutput(const RowShape& shape, const RowOperand& out, const CodeScale& scale, int64_t row,
                 std::span<const double> values);

}  // namespace reel::kernels
