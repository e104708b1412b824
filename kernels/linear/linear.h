// SPDX-License-Identifier: Apache-2.0
// linear: out = round( x W^T + b ), x [..., D], W [O,D], b [O] or none; fp32 accumulation, one
// rounding. A NaN or an infinity goes where the product carries it.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

struct LinearArgs {
  TensorView x;                    // [..., D], rank 1 to 5
  TensorView weight;               // [O,D] of x's dtype
  std::optional<TensorView> bias;  // [O] of x's dtype or fp32
  TensorView out;                  // [..., O] of x's dtype
};

// Statuses as in RmsNorm. Nothing is allocated.
absl::Status Linear(const LinearArgs& args, const Execution& run);

OpVariants LinearCpuVariants();

}  // namespace reel::kernels
