// SPDX-License-Identifier: Apache-2.0
// activation        y = round( act(x + bias) ), or e4m3 with a scale for each row or one for all,
// as
//                   rms_norm's
// gated_activation  y = round( act(gate) * value )
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "kernels/activation/activation_kind.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

struct ActivationArgs {
  TensorView x;                    // [..., n], rank 1 to 5
  std::optional<TensorView> bias;  // [n], added first
  TensorView out;                  // like x; may be x. Or e4m3, and overlaps nothing
  Activation kind = Activation::kGeluTanh;
  std::optional<TensorView> out_scale = std::nullopt;  // of an e4m3 out, as in RmsNormArgs
  std::optional<double> static_out_scale = std::nullopt;
  double threshold = 0;  // of kFatRelu
};

struct GatedActivationArgs {
  TensorView x;                     // [..., 2n]: the two halves side by side; or the gate [..., n]
  std::optional<TensorView> value;  // [..., n] beside a gate of its own
  TensorView out;                   // [..., n]; overlaps nothing
  Activation kind = Activation::kGeluTanh;
  bool gate_first = true;  // which half is the gate: diffusers' GEGLU and SwiGLU have it second
  double threshold = 0;    // of kFatRelu
};

// Statuses as in RmsNorm; INVALID_ARGUMENT too for halves of an odd width.
absl::Status ActivationOp(const ActivationArgs& args, const Execution& run);
absl::Status GatedActivation(const GatedActivationArgs& args, const Execution& run);

OpVariants ActivationCpuVariants();
OpVariants GatedActivationCpuVariants();

}  // namespace reel::kernels
