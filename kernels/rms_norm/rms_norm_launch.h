// SPDX-License-Identifier: Apache-2.0
// The checked call of rms_norm and its variants. Included by nvcc too.
#pragma once

#include "kernels/rows/row_layout.h"

namespace reel::kernels {

struct RmsNormParams {
  RowShape shape;
  RowOperand x;
  RowOperand weight;  // [D] or absent
  RowOperand bias;    // [D] or absent
  RowOperand out;
  float eps = 0;
  float weight_offset = 0;
  bool round_before_weight = false;
};

void RmsNormLoops(const RmsNormParams& params);
bool RmsNormCpuAccepts(const RmsNormParams& params);
void RmsNormCpu(const RmsNormParams& params);
bool RmsNormVectorAccepts(const RmsNormParams& params);
int32_t LaunchRmsNormGeneric(const RmsNormParams& params, void* stream);
int32_t LaunchRmsNormSm80(const RmsNormParams& params, void* stream);
int32_t LaunchRmsNormSm90(const RmsNormParams& params, void* stream);

}  // namespace reel::kernels
