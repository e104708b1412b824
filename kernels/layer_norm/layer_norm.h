// SPDX-License-Identifier: Apache-2.0
// layer_norm: y = round( (x - mean) * rstd * weight + bias ), with the biased variance in two
// passes; layer_norm_residual: the same of c = x + residual, unrounded, with sum = round(c).
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"

namespace reel::kernels {

struct LayerNormArgs {
  TensorView x;                      // [..., D], rank 1 to 5
  std::optional<TensorView> weight;  // [D]
  std::optional<TensorView> bias;    // [D]
  TensorView out;                    // like x; may be x
  double eps = 1e-5;                 // LTX's last norm takes 1e-6
};
struct LayerNormResidualArgs {
  TensorView x;
  TensorView residual;  // like x
  std::optional<TensorView> weight;
  std::optional<TensorView> bias;
  TensorView y;    // like x; may be x
  TensorView sum;  // like x; may be x or residual, not y
  double eps = 1e-5;
};

// Statuses as in RmsNorm.
absl::Status LayerNorm(const LayerNormArgs& args, const Execution& run);
absl::Status LayerNormResidual(const LayerNormResidualArgs& args, const Execution& run);

}  // namespace reel::kernels
