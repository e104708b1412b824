// SPDX-License-Identifier: Apache-2.0
// depth_to_space: channels to twice the frames, rows and columns, in fp32 with one rounding:
//   out[b, 2f + t - drop, 2y + i, 2x + j, c] = in[b, f, y, x, n] + bias[n]
//       + residual[b, f, y, x, n mod 8R],  n = 8c + 4t + 2i + j
// where drop is 1 if the first frame of each clip is left out.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

struct DepthToSpaceArgs {
  TensorView x;                             // [B,F,H,W,8C]
  std::optional<TensorView> bias = {};      // [8C]
  std::optional<TensorView> residual = {};  // [B,F,H,W,8R], R divides C
  TensorView out;                           // [B, 2F - drop, 2H, 2W, C]; overlaps nothing
  bool drop_first = false;
};

// Statuses as in RmsNorm.
absl::Status DepthToSpace(const DepthToSpaceArgs& args, const Execution& run);

OpVariants DepthToSpaceCpuVariants();

}  // namespace reel::kernels
