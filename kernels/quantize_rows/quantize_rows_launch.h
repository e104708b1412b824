// SPDX-License-Identifier: Apache-2.0
// The checked call of quantize_rows. Included by nvcc too.
#pragma once

#include "kernels/rows/row_layout.h"

namespace reel::kernels {

struct QuantizeRowsParams {
  RowShape shape;
  RowOperand x;
  RowOperand out;    // e4m3
  RowOperand scale;  // fp32, one element of a row; absent with a static scale
  const float* static_scale = nullptr;
};

void QuantizeRowsLoops(const QuantizeRowsParams& params);
bool QuantizeRowsVectorAccepts(const QuantizeRowsParams& params);
int32_t LaunchQuantizeRowsGeneric(const QuantizeRowsParams& params, void* stream);
int32_t LaunchQuantizeRowsSm80(const QuantizeRowsParams& params, void* stream);

}  // namespace reel::kernels
