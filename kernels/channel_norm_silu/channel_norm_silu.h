// SPDX-License-Identifier: Apache-2.0
// channel_norm_silu: c = x + residual + bias; v = c / rms over the channels of each pixel; v * (1 +
// scale) + shift; silu. The output has the temporal padding of the convolution that follows, so
// that neither a pad nor a cat is left. What a convolution left to add, its bias and the block's
// input, is added on the way; the norm is of c unrounded.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

struct ChannelNormSiluArgs {
  TensorView x;  // [B,F,H,W,C]; channels-last memory of [B,C,F,H,W] is fast
  std::optional<TensorView> residual = {};  // like x
  std::optional<TensorView> bias = {};      // [C]
  std::optional<TensorView> scale, shift;   // [B,C], both or none
  // [B, pad_front + F + pad_back, H, W, C]: copies of the first frame, the frames, copies of the
  // last. Overlaps nothing.
  TensorView out;
  std::optional<TensorView> sum = {};  // like x: c, rounded; overlaps nothing
  int64_t pad_front = 0;               // decoder (1,1), causal encoder (2,0)
  int64_t pad_back = 0;
  bool silu = true;
  double eps = 1e-8;
};

// Statuses as in RmsNorm; also INVALID_ARGUMENT for padding without frames.
absl::Status ChannelNormSilu(const ChannelNormSiluArgs& args, const Execution& run);

OpVariants ChannelNormSiluCpuVariants();

}  // namespace reel::kernels
