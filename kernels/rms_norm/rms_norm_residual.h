// SPDX-License-Identifier: Apache-2.0
// rms_norm_residual: c = x + residual; sum = round(c); y = round( c * rsqrt(mean(c^2) + eps) *
// weight ), with c unrounded.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"

namespace reel::kernels {

struct RmsNormResidualArgs {
  TensorView x;                      // [..., D], rank 1 to 5
  TensorView residual;               // like x
  std::optional<TensorView> weight;  // [D]
  TensorView y;                      // like x; may be x
  TensorView sum;                    // like x; may be x or residual, not y
  double eps = 1e-6;
};

// Statuses as in RmsNorm.
absl::Status RmsNormResidual(const RmsNormResidualArgs& args, const Execution& run);

}  // namespace reel::kernels
