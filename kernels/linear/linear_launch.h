// SPDX-License-Identifier: Apache-2.0
// The checked call of linear, and its variants. Included by nvcc too.
#pragma once

#include "kernels/rows/row_layout.h"

namespace reel::kernels {

struct LinearParams {
  RowShape shape;  // the rows of x
  int64_t outputs = 0;
  RowOperand x;       // or codes, as `weight` then is too
  RowOperand weight;  // strides[0] from one output's row to the next
  RowOperand bias;    // out's dtype or fp32, one element an output; or absent
  RowOperand out;
  RowOperand x_scale;       // of codes: fp32, one element of a row
  RowOperand weight_scale;  // of codes: fp32, one element an output
};

void LinearLoops(const LinearParams& params);
bool LinearInt8Accepts(const LinearParams& params);
int32_t LaunchLinearInt8Sm90(const LinearParams& params, void* stream);

}  // namespace reel::kernels
