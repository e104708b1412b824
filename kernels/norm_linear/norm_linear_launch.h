// SPDX-License-Identifier: Apache-2.0
// The checked calls of norm_linear and prepare_norm_linear, and their variants. Included by nvcc
// too.
#pragma once

#include "kernels/rows/row_layout.h"

namespace reel::kernels {

// Vectors over the outputs (bias, sums) have one element an output, `inner` apart.
struct NormLinearParams {
  RowShape shape;  // the rows of x
  int64_t outputs = 0;
  RowOperand x;
  RowOperand out;
  RowOperand weight;  // strides[0] from one output's row to the next
  RowOperand bias;    // x's dtype or fp32, or absent
  RowOperand sums;    // fp32; absent: rms norm
  float eps = 0;
};

struct PrepareNormLinearParams {
  RowShape shape;  // the rows of W, one an output
  RowOperand weight;
  RowOperand norm_weight;
  RowOperand norm_bias;
  RowOperand bias;
  RowOperand folded;       // W'
  RowOperand folded_bias;  // fp32, or absent
  RowOperand sums;         // fp32, or absent
};

void NormLinearLoops(const NormLinearParams& params);
bool NormLinearSm80Accepts(const NormLinearParams& params);
int32_t LaunchNormLinearGeneric(const NormLinearParams& params, void* stream);
int32_t LaunchNormLinearSm80(const NormLinearParams& params, void* stream);

void PrepareNormLinearLoops(const PrepareNormLinearParams& params);
int32_t LaunchPrepareNormLinearGeneric(const PrepareNormLinearParams& params, void* stream);

}  // namespace reel::kernels
