// SPDX-License-Identifier: Apache-2.0
// Calls a fused operator that is given as a value: its arguments, checks and launch. fused_norms.h
// has each operator as a function.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"
#include "kernels/rows/fused_ops_launch.h"

namespace reel::kernels {

// An operator's description says which of these it takes; the others stay absent. Named after the
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
  Optional out_scale = {};         // for an out in codes, as in RmsNormArgs
  std::optional<double> static_out_scale = {};
  // int32 [B,S], contiguous, on the device and not checked: the index of each row's vectors (scale,
  // shift, gates), which then are [M,D] or [M,1,D]. For rows of several clips.
  Optional vector_of = {};
};

// Checks, chooses a variant, launches it. Statuses as in RmsNorm; also INVALID_ARGUMENT if an
// operand of the operator is absent, or another one is given.
absl::Status RunFused(const FusedOp& op, const FusedArgs& args, const Execution& run);

OpVariants FusedNormCpuVariants(const FusedOp& op);

}  // namespace reel::kernels
