// SPDX-License-Identifier: Apache-2.0
// The checked call of int8_rows. Included by nvcc too.
#pragma once

#include "kernels/rows/row_layout.h"

namespace reel::kernels {

struct Int8RowsParams {
  RowShape shape;
  RowOperand x;
  RowOperand out;    // int8
  RowOperand scale;  // fp32, one element of a row
  bool gelu = false;
};

// A row is turned in four quarters, of each of which a group has a run of eight.
inline constexpr int kQuarters = 4, kRun = 8, kTurned = kQuarters * kRun;
inline constexpr float kLargestInt8 = 127;
inline constexpr float kLeastSum = 1e-12f;
// Turning makes a row sqrt(32) times as long; rounded once, as a device has it.
inline constexpr float kTurnedLength = 5.65685425f;

void Int8RowsLoops(const Int8RowsParams& params);
bool Int8RowsVectorAccepts(const Int8RowsParams& params);
int32_t LaunchInt8RowsGeneric(const Int8RowsParams& params, void* stream);
int32_t LaunchInt8RowsSm80(const Int8RowsParams& params, void* stream);

}  // namespace reel::kernels
