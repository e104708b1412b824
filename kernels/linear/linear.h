// SPDX-License-Identifier: Apache-2.0
// linear: out = round( x W^T + b ), x [..., D], W [O,D], b [O] or none; fp32 accumulation, one
// rounding. A NaN or an infinity goes where the product carries it.
//
// Or in 8 bits, where x and W are codes with a scale for each row, in e4m3 (rows/e4m3_layout.h) or
// int8 (int8_rows/int8_rows.h):
//   out = round( (x W^T) * x_scale * weight_scale + b )
#pragma once

#include "absl/status/status.h"
#include "kernels/base/operands.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

template <typename T>
struct LinearOperands {
  typename T::In x;               // [..., D], rank 1 to 5
  typename T::In weight;          // [O,D] of x's dtype
  typename T::MaybeIn bias = {};  // [O] of out's dtype or fp32
  typename T::Out out;            // [..., O] of x's dtype; any of the three beside codes
  // Only for codes, and then both: fp32, one for each row of x, one for each output.
  typename T::MaybeIn x_scale = {};       // [...]
  typename T::MaybeIn weight_scale = {};  // [O]

  template <typename See, typename... Calls>
  static void EachOperand(const See& see, Calls&... calls) {
    see(Operand{"x"}, calls.x...);
    see(Operand{"weight"}, calls.weight...);
    see(Operand{"bias"}, calls.bias...);
    see(Operand{"x_scale"}, calls.x_scale...);
    see(Operand{"weight_scale"}, calls.weight_scale...);
    see(Output("out"), calls.out...);
  }
};
using LinearArgs = LinearOperands<Views>;

// Statuses as in RmsNorm. Nothing is allocated.
absl::Status Linear(const LinearArgs& args, const Execution& run);
// Checks a call without choosing a variant, for callers that compute it themselves.
absl::Status CheckLinear(const LinearArgs& args, DeviceStream stream);

OpVariants LinearCpuVariants();

}  // namespace reel::kernels
