// SPDX-License-Identifier: Apache-2.0
// conv3d: out[b,o,f,h,w] = round( bias[o] + sum over c,i,j,k of
//   weight[o,c,i,j,k] * x[b, c, f*stride_f - pad_f + i, h*stride_h - pad_h + j,
//                         w*stride_w - pad_w + k] )
// with zeros beyond x; fp32 accumulation, one rounding. Any strides: channels-last memory is a view
// with the channels' stride 1.
#pragma once

#include <array>

#include "absl/status/status.h"
#include "kernels/base/operands.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

template <typename T>
struct Conv3dOperands {
  typename T::In x;               // [B,C,F,H,W]
  typename T::In weight;          // [O,C,i,j,k] of x's dtype
  typename T::MaybeIn bias = {};  // [O] of x's dtype or fp32
  typename T::Out out;            // [B,O,F',H',W'], each side (side + 2 pad - kernel) / stride + 1
  std::array<int64_t, 3> stride = {1, 1, 1};  // of frames, rows, columns; at least 1
  std::array<int64_t, 3> padding = {0, 0, 0};

  template <typename See, typename... Calls>
  static void EachOperand(const See& see, Calls&... calls) {
    see(Operand{"x"}, calls.x...);
    see(Operand{"weight"}, calls.weight...);
    see(Operand{"bias"}, calls.bias...);
    see(Output("out"), calls.out...);
    see(Option("stride"), calls.stride...);
    see(Option("padding"), calls.padding...);
  }
};
using Conv3dArgs = Conv3dOperands<Views>;

// Statuses as in RmsNorm. Nothing is allocated.
absl::Status Conv3d(const Conv3dArgs& args, const Execution& run);
// Checks a call without choosing a variant, for callers that compute it themselves.
absl::Status CheckConv3d(const Conv3dArgs& args, DeviceStream stream);

OpVariants Conv3dCpuVariants();

}  // namespace reel::kernels
