// SPDX-License-Identifier: Apache-2.0
// Converts rows to int8 for `loops` variants: the oracle of int8_layout.h.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/rows/row_layout.h"

namespace reel::kernels {

// A row's codes and scale. Sums are fp64, rounded to fp32 before codes are made.
void WriteInt8Row(const RowShape& shape, const RowOperand& out, const RowOperand& scale,
                  int64_t row, std::span<const double> values);

}  // namespace reel::kernels
