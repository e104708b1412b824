// SPDX-License-Identifier: Apache-2.0
// activation        y = round( act(x + bias) ), or e4m3 with a scale for each row or one for all,
// as
//                   rms_norm's
// gated_activation  y = round( act(gate) * value )
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "kernels/activation/activation_kind.h"
#include "kernels/base/operands.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

template <typename T>
struct ActivationOperands {
  typename T::In x;               // [..., n], rank 1 to 5
  typename T::MaybeIn bias = {};  // [n], added first
  typename T::Out out;            // like x; may be x. Or e4m3, and overlaps nothing
  Activation kind = Activation::kGeluTanh;
  typename T::MaybeOut out_scale = {};  // of an e4m3 out, as in RmsNormArgs
  std::optional<double> static_out_scale = std::nullopt;
  double threshold = 0;  // of kFatRelu

  template <typename See, typename... Calls>
  static void EachOperand(const See& see, Calls&... calls) {
    see(Operand{"x"}, calls.x...);
    see(Operand{"bias"}, calls.bias...);
    see(Output("out"), calls.out...);
    see(Output("out_scale", OperandForm::kE4m3), calls.out_scale...);
    see(Option("kind"), calls.kind...);
    see(Option("static_out_scale", OperandForm::kE4m3), calls.static_out_scale...);
    see(Unlisted("threshold"), calls.threshold...);
  }
};
using ActivationArgs = ActivationOperands<Views>;

template <typename T>
struct GatedActivationOperands {
  typename T::In x;                // [..., 2n]: the two halves side by side; or the gate [..., n]
  typename T::MaybeIn value = {};  // [..., n] beside a gate of its own
  typename T::Out out;             // [..., n]; overlaps nothing
  Activation kind = Activation::kGeluTanh;
  bool gate_first = true;  // which half is the gate: diffusers' GEGLU and SwiGLU have it second
  double threshold = 0;    // of kFatRelu

  template <typename See, typename... Calls>
  static void EachOperand(const See& see, Calls&... calls) {
    see(Operand{"x"}, calls.x...);
    see(Operand{"value"}, calls.value...);
    see(Output("out"), calls.out...);
    see(Option("kind"), calls.kind...);
    see(Option("gate_first"), calls.gate_first...);
    see(Option("threshold"), calls.threshold...);
  }
};
using GatedActivationArgs = GatedActivationOperands<Views>;

// Statuses as in RmsNorm; INVALID_ARGUMENT too for halves of an odd width.
absl::Status ActivationOp(const ActivationArgs& args, const Execution& run);
absl::Status GatedActivation(const GatedActivationArgs& args, const Execution& run);

// The kind with that KindName; INVALID_ARGUMENT: there is none.
absl::Status ReadKind(const std::string& name, Activation& kind);

OpVariants ActivationCpuVariants();
OpVariants GatedActivationCpuVariants();

}  // namespace reel::kernels
