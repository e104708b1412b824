// SPDX-License-Identifier: Apache-2.0
// The checked call of int8_rows. Included by nvcc too.
#pragma once

#include "kernels/rows/int8_layout.h"
#include "kernels/rows/row_layout.h"

namespace reel::kernels {

struct Int8RowsParams {
  RowShape shape;
  RowOperand x;
  RowOperand out;    // int8
  RowOperand scale;  // fp32, one element of a row
  bool gelu = false;
};

void Int8RowsLoops(const Int8RowsParams& params);
bool Int8RowsVectorAccepts(const Int8RowsParams& params);
int32_t LaunchInt8RowsGeneric(const Int8RowsParams& params, void* stream);
int32_t LaunchInt8RowsSm80(const Int8RowsParams& params, void* stream);
int32_t LaunchInt8RowsSm90(const Int8RowsParams& params, void* stream);

}  // namespace reel::kernels
