// SPDX-License-Identifier: Apache-2.0
// channel_norm_silu: c = x + residual + bias; v = c / rms over the channels of each pixel; v * (1 +
// scale) + shift; silu. The output has the temporal padding of the convolution that follows, so
// that neither a pad nor a cat is left. What a convolution left to add, its bias and the block's
// input, is added on the way; the norm is of c unrounded.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/base/operands.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

template <typename T>
struct ChannelNormSiluOperands {
  typename T::In x;                   // [B,F,H,W,C]; channels-last memory of [B,C,F,H,W] is fast
  typename T::MaybeIn residual = {};  // like x
  typename T::MaybeIn bias = {};      // [C]
  typename T::MaybeIn scale = {}, shift = {};  // [B,C], both or none
  // [B, pad_front + F + pad_back, H, W, C]: copies of the first frame, the frames, copies of the
  // last. Overlaps nothing.
  typename T::Out out;
  typename T::MaybeOut sum = {};  // like x: c, rounded; overlaps nothing
  int64_t pad_front = 0;          // decoder (1,1), causal encoder (2,0)
  int64_t pad_back = 0;
  bool silu = true;
  double eps = 1e-8;

  template <typename See, typename... Calls>
  static void EachOperand(const See& see, Calls&... calls) {
    see(Operand{"x"}, calls.x...);
    see(Operand{"scale"}, calls.scale...);
    see(Operand{"shift"}, calls.shift...);
    see(Operand{"residual"}, calls.residual...);
    see(Operand{"bias"}, calls.bias...);
    see(Output("out"), calls.out...);
    see(Output("sum", OperandForm::kSum), calls.sum...);
    see(Size("pad_front"), calls.pad_front...);
    see(Size("pad_back"), calls.pad_back...);
    see(Option("silu"), calls.silu...);
    see(Option("eps"), calls.eps...);
  }
};
using ChannelNormSiluArgs = ChannelNormSiluOperands<Views>;

// Statuses as in RmsNorm; also INVALID_ARGUMENT for padding without frames.
absl::Status ChannelNormSilu(const ChannelNormSiluArgs& args, const Execution& run);

OpVariants ChannelNormSiluCpuVariants();

}  // namespace reel::kernels
