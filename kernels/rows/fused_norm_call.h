// SPDX-License-Identifier: Apache-2.0
// Calls a fused operator that is given as a value: its arguments, checks and launch. fused_norms.h
// has each operator as a function.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "kernels/base/operands.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"
#include "kernels/rows/fused_ops_launch.h"

namespace reel::kernels {

// An operator's description says which of these it takes; the others stay absent. Named after the
// parts of the formula in fused_norm.h.
template <typename T>
struct FusedOperands {
  using MaybeIn = typename T::MaybeIn;
  using MaybeOut = typename T::MaybeOut;

  typename T::In x;  // [..., D]; [B,S,D] where vectors may be of a batch
  MaybeIn residual = {}, residual_gate = {}, residual_gate_bias = {};
  MaybeIn weight = {}, bias = {};
  MaybeIn scale = {}, scale_bias = {}, shift = {}, shift_bias = {};
  MaybeIn gate = {}, gate_bias = {};
  MaybeOut sum = {};               // like x; may be x, or a residual without a gate
  MaybeOut out = {};               // like x, or e4m3 or int8; without modulation it may be x
  std::optional<double> eps = {};  // absent: the operator's usual one
  MaybeOut out_scale = {};         // for an out in codes, as in RmsNormArgs
  std::optional<double> static_out_scale = {};
  // int32 [B,S], contiguous, on the device and not checked: the index of each row's vectors (scale,
  // shift, gates), which then are [M,D] or [M,1,D]. For rows of several clips.
  MaybeIn vector_of = {};

  // Torch has those of each operator's description (fused_ops_schema.h).
  template <typename See, typename... Calls>
  static void EachOperand(const See& see, Calls&... calls) {
    see(Unlisted("x"), calls.x...);
    see(Unlisted("residual"), calls.residual...);
    see(Unlisted("residual_gate"), calls.residual_gate...);
    see(Unlisted("residual_gate_bias"), calls.residual_gate_bias...);
    see(Unlisted("weight"), calls.weight...);
    see(Unlisted("bias"), calls.bias...);
    see(Unlisted("scale"), calls.scale...);
    see(Unlisted("scale_bias"), calls.scale_bias...);
    see(Unlisted("shift"), calls.shift...);
    see(Unlisted("shift_bias"), calls.shift_bias...);
    see(Unlisted("gate"), calls.gate...);
    see(Unlisted("gate_bias"), calls.gate_bias...);
    see(Unlisted("sum"), calls.sum...);
    see(Unlisted("out"), calls.out...);
    see(Unlisted("eps"), calls.eps...);
    see(Unlisted("out_scale"), calls.out_scale...);
    see(Unlisted("static_out_scale"), calls.static_out_scale...);
    see(Unlisted("vector_of"), calls.vector_of...);
  }
};
using FusedArgs = FusedOperands<Views>;

// Checks, chooses a variant, launches it. Statuses as in RmsNorm; also INVALID_ARGUMENT if an
// operand of the operator is absent, or another one is given.
absl::Status RunFused(const FusedOp& op, const FusedArgs& args, const Execution& run);

OpVariants FusedNormCpuVariants(const FusedOp& op);

}  // namespace reel::kernels
