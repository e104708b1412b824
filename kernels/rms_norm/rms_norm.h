// SPDX-License-Identifier: Apache-2.0
// rms_norm: y = round( x * rsqrt(mean(x^2) + eps) * (weight + weight_offset) + bias ), row by row.
// In e4m3 it is the same unrounded, with a scale for each row, as quantize_rows defines it.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

struct RmsNormArgs {
  TensorView x;                      // [..., D], rank 1 to 5
  std::optional<TensorView> weight;  // [D]; absent: 1, and nothing is read
  std::optional<TensorView> bias;    // [D]
  TensorView out;                    // like x; may be x. Or e4m3, and overlaps nothing
  double eps = 1e-6;                 // inside the root
  double weight_offset = 0;          // 1 for modules that store weight - 1
  // round( round(x * rstd) * weight ), the order of LLaMA and T5, for parity with them.
  bool round_before_weight = false;
  // For an e4m3 out exactly one of these: fp32 [...], written, one a row; or one scale for all
  // rows, finite and positive. With the latter only quotients that are not finite become NaN.
  std::optional<TensorView> out_scale = std::nullopt;
  std::optional<double> static_out_scale = std::nullopt;
};

// INVALID_ARGUMENT for wrong sizes, dtypes, overlaps or eps, UNIMPLEMENTED for a dtype other than
// fp16, bf16, fp32, FAILED_PRECONDITION if no variant can run, INTERNAL, RESOURCE_EXHAUSTED or
// ABORTED from a device.
absl::Status RmsNorm(const RmsNormArgs& args, const Execution& run);

OpVariants RmsNormCpuVariants();

}  // namespace reel::kernels
