// SPDX-License-Identifier: Apache-2.0
// depth_to_space: channels to twice the frames, rows and columns, in fp32 with one rounding:
//   out[b, 2f + t - drop, 2y + i, 2x + j, c] = in[b, f, y, x, n] + bias[n]
//       + residual[b, f, y, x, n mod 8R],  n = 8c + 4t + 2i + j
// where drop is 1 if the first frame of each clip is left out.
#pragma once

#include "absl/status/status.h"
#include "kernels/base/operands.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

template <typename T>
struct DepthToSpaceOperands {
  typename T::In x;                   // [B,F,H,W,8C]
  typename T::MaybeIn bias = {};      // [8C]
  typename T::MaybeIn residual = {};  // [B,F,H,W,8R], R divides C
  typename T::Out out;                // [B, 2F - drop, 2H, 2W, C]; overlaps nothing
  bool drop_first = false;

  template <typename See, typename... Calls>
  static void EachOperand(const See& see, Calls&... calls) {
    see(Operand{"x"}, calls.x...);
    see(Operand{"bias"}, calls.bias...);
    see(Operand{"residual"}, calls.residual...);
    see(Output("out"), calls.out...);
    see(Option("drop_first"), calls.drop_first...);
  }
};
using DepthToSpaceArgs = DepthToSpaceOperands<Views>;

// Statuses as in RmsNorm.
absl::Status DepthToSpace(const DepthToSpaceArgs& args, const Execution& run);

OpVariants DepthToSpaceCpuVariants();

}  // namespace reel::kernels
