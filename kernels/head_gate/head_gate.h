// SPDX-License-Identifier: Apache-2.0
// head_gate: out = round( x * 2 sigmoid(logit) ), with a logit for each head of each row, as
// attentions of LTX-2 weigh their heads before the last projection. Rounded to x's type, or to e4m3
// or int8 with a scale for each row.
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
  typename T::Out out;    // like x; may be x. Or codes of x's sizes, and overlaps nothing
  typename T::MaybeOut out_scale = {};  // of codes, fp32 [...], one a row

  template <typename See, typename... Calls>
  static void EachOperand(const See& see, Calls&... calls) {
    see(Operand{"x"}, calls.x...);
    see(Operand{"logits"}, calls.logits...);
    see(Output("out"), calls.out...);
    see(Output("out_scale", OperandForm::kE4m3), calls.out_scale...);
  }
};
using HeadGateArgs = HeadGateOperands<Views>;

// Statuses as in RmsNorm.
absl::Status HeadGate(const HeadGateArgs& args, const Execution& run);

OpVariants HeadGateCpuVariants();

}  // namespace reel::kernels
