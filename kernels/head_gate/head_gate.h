// SPDX-License-Identifier: Apache-2.0
// head_gate: out = round( x * 2 sigmoid(logit) ), with a logit for each head of each row, as
// attentions of LTX-2 weigh their heads before the last projection.
#pragma once

#include "absl/status/status.h"
#include "kernels/base/operands.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

template <typename T>
struct HeadGateOperands {
  typename T::In x;       // [..., D], rank 1 to 5
  typename T::In logits;  // [..., N], of x's type; N divides D, heads lie side by side in x
  typename T::Out out;    // like x; may be x

  template <typename See, typename... Calls>
  static void EachOperand(const See& see, Calls&... calls) {
    see(Operand{"x"}, calls.x...);
    see(Operand{"logits"}, calls.logits...);
    see(Output("out"), calls.out...);
  }
};
using HeadGateArgs = HeadGateOperands<Views>;

// Statuses as in RmsNorm.
absl::Status HeadGate(const HeadGateArgs& args, const Execution& run);

OpVariants HeadGateCpuVariants();

}  // namespace reel::kernels
