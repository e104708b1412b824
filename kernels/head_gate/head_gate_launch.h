// SPDX-License-Identifier: Apache-2.0
// The checked call of head_gate. Included by nvcc too.
#pragma once

#include "kernels/rows/e4m3_layout.h"
#include "kernels/rows/row_layout.h"

namespace reel::kernels {

struct HeadGateParams {
  RowShape shape;
  RowOperand x, logits, out;
  int64_t head_width = 1;    // channels of a head
  CodeScale out_scale = {};  // for an out in codes
};

void HeadGateLoops(const HeadGateParams& params);
bool HeadGateVectorAccepts(const HeadGateParams& params);
bool HeadGateE4m3Accepts(const HeadGateParams& params);
bool HeadGateInt8Accepts(const HeadGateParams& params);
int32_t LaunchHeadGateGeneric(const HeadGateParams& params, void* stream);
int32_t LaunchHeadGateSm80(const HeadGateParams& params, void* stream);
int32_t LaunchHeadGateE4m3Sm80(const HeadGateParams& params, void* stream);
int32_t LaunchHeadGateSm90(const HeadGateParams& params, void* stream);
int32_t LaunchHeadGateE4m3Sm90(const HeadGateParams& params, void* stream);
int32_t LaunchHeadGateInt8Sm90(const HeadGateParams& params, void* stream);

}  // namespace reel::kernels
