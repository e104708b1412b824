// SPDX-License-Identifier: Apache-2.0
// head_gate: out = round( x * 2 sigmoid(logit) ), with a logit for each head of each row, as
// attentions of LTX-2 weigh their heads before the last projection.
#pragma once

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

struct HeadGateArgs {
  TensorView x;       // [..., D], rank 1 to 5
  TensorView logits;  // [..., N], of x's type; N divides D, heads lie side by side in x
  TensorView out;     // like x; may be x
};

// Statuses as in RmsNorm.
absl::Status HeadGate(const HeadGateArgs& args, const Execution& run);

OpVariants HeadGateCpuVariants();

}  // namespace reel::kernels
