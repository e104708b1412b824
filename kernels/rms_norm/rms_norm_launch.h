// SPDX-License-Identifier: Apache-2.0
// The checked call of rms_norm and its variants. Included by nvcc too.
#pragma once

#include "kernels/rows/e4m3_layout.h"
#include "kernels/rows/fused_norm.h"
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
  CodeScale out_scale = {};  // for an e4m3 out
};

// Whether the call is a fused norm of rows/. Without a weight a second rounding changes nothing,
// unless the output is not rounded to the same type.
inline bool IsFused(const RmsNormParams& p) {
  if (p.out.dtype == Dtype::kE4m3 && p.round_before_weight) return false;
  return p.weight.data == nullptr || (!p.round_before_weight && p.weight_offset == 0);
}

// T5's: the same with a rounding before the weight.
inline bool IsRoundedFirst(const RmsNormParams& p) {
  return p.round_before_weight && p.weight.data != nullptr && p.weight_offset == 0 &&
         p.out.dtype != Dtype::kE4m3;
}

inline FusedNormParams FusedOf(const RmsNormParams& p) {
  FusedNormParams fused;
  fused.shape = p.shape;
  fused.x = p.x;
  fused.weight = p.weight;
  fused.bias = p.bias;
  fused.out = p.out;
  fused.eps = p.eps;
  fused.out_scale = p.out_scale;
  return fused;
}

void RmsNormLoops(const RmsNormParams& params);
bool RmsNormCpuAccepts(const RmsNormParams& params);
void RmsNormCpu(const RmsNormParams& params, const HostThreads* threads);
// Plain fused norms, without a weight or with one (also T5's): in the rows' type, and to e4m3.
bool RmsNormPlainAccepts(const RmsNormParams& params);
int32_t LaunchRmsNormSm80(const RmsNormParams& params, void* stream);
int32_t LaunchRmsNormSm90(const RmsNormParams& params, void* stream);
bool RmsNormE4m3Accepts(const RmsNormParams& params);
int32_t LaunchRmsNormE4m3Sm80(const RmsNormParams& params, void* stream);
int32_t LaunchRmsNormE4m3Sm90(const RmsNormParams& params, void* stream);
// Any call over rows of 16-byte vectors, with an output in their type; and any call.
bool RmsNormVectorAccepts(const RmsNormParams& params);
int32_t LaunchRmsNormGeneralSm80(const RmsNormParams& params, void* stream);
int32_t LaunchRmsNormGeneric(const RmsNormParams& params, void* stream);

}  // namespace reel::kernels
