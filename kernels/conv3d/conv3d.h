// SPDX-License-Identifier: Apache-2.0
// conv3d: out[b,o,f,h,w] = round( bias[o] + sum over c,i,j,k of
//   weight[o,c,i,j,k] * x[b, c, f*stride_f - pad_f + i, h*stride_h - pad_h + j,
//                         w*stride_w - pad_w + k] )
// with zeros beyond x; fp32 accumulation, one rounding. Any strides: channels-last memory is a view
// with the channels' stride 1.
#pragma once

#include <array>
#include <optional>

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

struct Conv3dArgs {
  TensorView x;                    // [B,C,F,H,W]
  TensorView weight;               // [O,C,i,j,k] of x's dtype
  std::optional<TensorView> bias;  // [O] of x's dtype or fp32
  TensorView out;                  // [B,O,F',H',W'], each side (side + 2 pad - kernel) / stride + 1
  std::array<int64_t, 3> stride = {1, 1, 1};  // of frames, rows, columns; at least 1
  std::array<int64_t, 3> padding = {0, 0, 0};
};

// Statuses as in RmsNorm. Nothing is allocated.
absl::Status Conv3d(const Conv3dArgs& args, const Execution& run);
// Checks a call without choosing a variant, for callers that compute it themselves.
absl::Status CheckConv3d(const Conv3dArgs& args, DeviceStream stream);

OpVariants Conv3dCpuVariants();

}  // namespace reel::kernels
