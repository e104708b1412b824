// SPDX-License-Identifier: Apache-2.0
// The end of a sub-layer over x [B,S,D], LTX's gate:
//   gate_residual        out = round( x + y * gate )
//   gate_residual_adaln  s = x + y * gate; sum = round(s); out = round( rms(s) * (1 + scale) +
//   shift ), which can be e4m3 with a scale for each row instead, as rms_norm's
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"

namespace reel::kernels {

// Vectors and `vector_of` as in adaln.h. Without a gate this is a plain addition.
struct GateResidualArgs {
  TensorView x;  // [B,S,D]
  TensorView y;  // like x: what the sub-layer gave
  std::optional<TensorView> gate, gate_bias;
  TensorView out;  // like x; may be x
  std::optional<TensorView> vector_of = std::nullopt;
};
// The gate and the norm that comes next, in one pass.
struct GateResidualAdalnArgs {
  TensorView x;
  TensorView y;
  std::optional<TensorView> gate, gate_bias;
  std::optional<TensorView> scale, shift;
  std::optional<TensorView> scale_bias, shift_bias;
  TensorView sum;  // like x; may be x
  TensorView out;  // like x, or e4m3; overlaps nothing
  double eps = 1e-6;
  std::optional<TensorView> out_scale = std::nullopt;  // of an e4m3 out, as in RmsNormArgs
  std::optional<double> static_out_scale = std::nullopt;
  std::optional<TensorView> vector_of = std::nullopt;
};

// Statuses as in RmsNorm.
absl::Status GateResidual(const GateResidualArgs& args, const Execution& run);
absl::Status GateResidualAdaln(const GateResidualAdalnArgs& args, const Execution& run);

}  // namespace reel::kernels
