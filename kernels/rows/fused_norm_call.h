// SPDX-License-Identifier: Apache-2.0
// A call of a fused operator on the host: its arguments, its door, its launch. For whoever has an
// operator as a value; fused_norms.h has each as a function.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"
#include "kernels/rows/fused_ops_launch.h"

namespace reel::kernels {

// Which of these an operator takes, its description says; the others stay absent. Named as the
// parts of the formula in fused_norm.h.
struct FusedArgs {
  using Optional = std::optional<TensorView>;

  TensorView x;  // [..., D]; [B,S,D] where vectors may be of a batch
  Optional residual = {}, residual_gate = {}, residual_gate_bias = {};
  Optional weight = {}, bias = {};
  Optional scale = {}, scale_bias = {}, shift = {}, shift_bias = {};
  Optional gate = {}, gate_bias = {};
  Optional sum = {};               // like x; may be x, or a residual without a gate
  Optional out = {};               // like x, or e4m3 or int8; without modulation it may be x
  std::optional<double> eps = {};  // absent: the operator's usual one
  Optional out_scale = {};         // of an out in codes, as in RmsNormArgs
  std::optional<double> static_out_scale = {};
  // int32 [B,S], contiguous: which of the vectors (scale, shift, gates) a row takes, which then are
  // [M,D] or [M,1,D]; device data, which is not checked. For who has rows of several clips.
  Optional vector_of = {};
};

// Checks, chooses a variant, launches it. Statuses as in RmsNorm; INVALID_ARGUMENT too where an
// operand is absent that the operator has, or given that it has not.
absl::Status RunFused(const FusedOp& op, const FusedArgs& args, const Execution& run);

OpVariants FusedNormCpuVariants(const FusedOp& op);

}  // namespace reel::kernels
