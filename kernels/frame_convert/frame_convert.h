// SPDX-License-Identifier: Apache-2.0
// frame_convert: decoded frames in [-1,1] to 8-bit RGB or to 4:2:0 planes.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

enum class FrameLayout {
  kPacked,   // [F,H,W,3]
  kPlanar,   // [F,3,H,W]
  kPatched,  // [F,H/4,W/4,48]: what the decoder's last convolution gives; pixel (c, 4y+i, 4x+j) is
             // channel 16c + 4j + i
};
enum class FrameFormat { kRgb8, kI420, kNv12 };

struct FrameConvertArgs {
  TensorView frames;
  FrameLayout layout = FrameLayout::kPacked;
  FrameFormat format = FrameFormat::kRgb8;
  // uint8, of any strides: rgb [F,H,W,3]; y [F,H,W] with u and v [F,ceil(H/2),ceil(W/2)] (I420) or
  // uv [F,ceil(H/2),ceil(W/2),2] (NV12). Those of another format are absent.
  std::optional<TensorView> rgb, y, u, v, uv;
  // False: x/2 + 1/2 is rounded in the dtype of the frames at each step, as diffusers does; true:
  // fp32 throughout. Then NaN is 0, values are cut to [0,1], times 255, half to even.
  bool exact = false;
  bool bt601 = false;          // else BT.709
  bool full_range = false;     // else limited
  bool center_chroma = false;  // 2x2 mean; else left-sited: [1 2 1]/4 across, [1 1]/2 down
};

// Statuses as in RmsNorm.
absl::Status FrameConvert(const FrameConvertArgs& args, const Execution& run);

OpVariants FrameConvertCpuVariants();

}  // namespace reel::kernels
