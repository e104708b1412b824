// SPDX-License-Identifier: Apache-2.0
// The checked call of activation and gated_activation. Included by nvcc too.
#pragma once

#include "kernels/activation/activation_kind.h"
#include "kernels/rows/e4m3_layout.h"
#include "kernels/rows/row_layout.h"

namespace reel::kernels {

struct HostThreads;

struct ActivationParams {
  RowShape shape;
  RowOperand x;      // the gate, in a gated call
  RowOperand bias;   // [n] or absent
  RowOperand value;  // in a gated call
  RowOperand out;
  Activation kind = Activation::kGeluTanh;
  CodeScale out_scale = {};  // for an e4m3 out
  float threshold = 0;       // for kFatRelu
};

void ActivationLoops(const ActivationParams& params);
bool ActivationCpuAccepts(const ActivationParams& params);
void ActivationCpu(const ActivationParams& params, const HostThreads* threads);
bool ActivationVectorAccepts(const ActivationParams& params);
int32_t LaunchActivationSm80(const ActivationParams& params, void* stream);
// To e4m3; gelu_tanh only.
inline constexpr int64_t kMaxActivationE4m3Bytes = 32768;  // elements of a row of x
bool ActivationE4m3Accepts(const ActivationParams& params);
int32_t LaunchActivationE4m3Sm80(const ActivationParams& params, void* stream);
int32_t LaunchActivationGeneric(const ActivationParams& params, void* stream);

}  // namespace reel::kernels
