// SPDX-License-Identifier: Apache-2.0
// Rows to e4m3 with a scale each, for a matrix product in 8 bits.
//
//   scale = max(max|x|, 1e-12) / 448        out = e4m3( clamp(x / scale, -448, 448) ), nearest even
//
// The quotient is rounded to fp32 first, as where PyTorch divides: those of 16-bit rows are often
// ties.
//
// A row with a value that is not finite gets the scale NaN and 0x7F, e4m3's NaN, in every byte.
// With `static_scale` all rows take that one, and only quotients that are not finite become 0x7F.
// x may be of any strides; nothing overlaps. INVALID_ARGUMENT unless exactly one of `scale` and
// `static_scale` is there.
#pragma once

#include "absl/status/status.h"
#include "kernels/base/operands.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

template <typename T>
struct QuantizeRowsOperands {
  typename T::In x;                       // [..., D], rank 1 to 5
  typename T::Out out;                    // e4m3, the sizes of x
  typename T::MaybeOut scale = {};        // fp32 [...]: written, one a row
  typename T::MaybeIn static_scale = {};  // fp32 [1]: read

  template <typename See, typename... Calls>
  static void EachOperand(const See& see, Calls&... calls) {
    see(Operand{"x"}, calls.x...);
    see(Operand{"static_scale"}, calls.static_scale...);
    see(Output("out"), calls.out...);
    see(Output("scale"), calls.scale...);
  }
};
using QuantizeRowsArgs = QuantizeRowsOperands<Views>;

absl::Status QuantizeRows(const QuantizeRowsArgs& args, const Execution& run);

OpVariants QuantizeRowsCpuVariants();

}  // namespace reel::kernels
