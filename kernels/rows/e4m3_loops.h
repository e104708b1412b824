// SPDX-License-Identifier: Apache-2.0
// Rows as e4m3 for `loops` variants: the oracle of e4m3_layout.h.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/rows/e4m3_layout.h"

namespace reel::kernels {

// The scale of a row of its own; values are rounded to fp32 first.
float E4m3ScaleOf(std::span<const double> values);
// The codes of a row.
void WriteE4m3Row(const RowShape& shape, const RowOperand& out, int64_t row,
                  std::span<const double> values, float scale);

// A row of an operator's output: of a floating type with one rounding, or e4m3 with its scale.
void WriteOutput(const RowShape& shape, const RowOperand& out, const E4m3Scale& scale, int64_t row,
                 std::span<const double> values);

}  // namespace reel::kernels
