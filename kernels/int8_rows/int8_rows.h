// SPDX-License-Identifier: Apache-2.0
// int8_rows: converts rows to int8 with a scale each, rotated so that no channel stands out, for a
// matrix product in 8 bits; int8_layout.h has the formula. Of x, or of gelu_tanh(x).
//
// x may have any strides; nothing overlaps. INVALID_ARGUMENT unless D is a multiple of 32.
#pragma once

#include "absl/status/status.h"
#include "kernels/base/operands.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

inline constexpr int64_t kTurnedTogether = 32;

template <typename T>
struct Int8RowsOperands {
  typename T::In x;       // [..., D], rank 1 to 5
  typename T::Out out;    // int8, the sizes of x
  typename T::Out scale;  // fp32 [...], one a row
  bool gelu = false;

  template <typename See, typename... Calls>
  static void EachOperand(const See& see, Calls&... calls) {
    see(Operand{"x"}, calls.x...);
    see(Output("out"), calls.out...);
    see(Output("scale"), calls.scale...);
    see(Option("gelu"), calls.gelu...);
  }
};
using Int8RowsArgs = Int8RowsOperands<Views>;

absl::Status Int8Rows(const Int8RowsArgs& args, const Execution& run);

OpVariants Int8RowsCpuVariants();

}  // namespace reel::kernels
