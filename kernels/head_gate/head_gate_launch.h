// SPDX-License-Identifier: Apache-2.0
// The checked call of head_gate. Included by nvcc too.
#pragma once

#include "kernels/rows/row_layout.h"

namespace reel::kernels {

struct HeadGateParams {
  RowShape shape;
  RowOperand x, logits, out;
  int64_t head_width = 1;  // channels of a head
};

void HeadGateLoops(const HeadGateParams& params);
bool HeadGateVectorAccepts(const HeadGateParams& params);
int32_t LaunchHeadGateGeneric(const HeadGateParams& params, void* stream);
int32_t LaunchHeadGateSm80(const HeadGateParams& params, void* stream);
int32_t LaunchHeadGateSm90(const HeadGateParams& params, void* stream);

}  // namespace reel::kernels
