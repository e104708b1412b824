// SPDX-License-Identifier: Apache-2.0
// rms_norm: y = round( x * rsqrt(mean(x^2) + eps) * (weight + weight_offset) + bias ), row by row.
// In e4m3 it is the same unrounded, with a scale for each row, as quantize_rows defines it.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "kernels/base/operands.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

template <typename T>
struct RmsNormOperands {
  typename T::In x;                 // [..., D], rank 1 to 5
  typename T::MaybeIn weight = {};  // [D]; absent: 1, and nothing is read
  typename T::MaybeIn bias = {};    // [D]
  typename T::Out out;              // like x; may be x. Or e4m3, and overlaps nothing
  double eps = 1e-6;                // inside the root
  double weight_offset = 0;         // 1 for modules that store weight - 1
  // round( round(x * rstd) * weight ), the order of LLaMA and T5, for parity with them.
  bool round_before_weight = false;
  // For an e4m3 out exactly one of these: fp32 [...], written, one a row; or one scale for all
  // rows, finite and positive. With the latter only quotients that are not finite become NaN.
  typename T::MaybeOut out_scale = {};
  std::optional<double> static_out_scale = std::nullopt;

  template <typename See, typename... Calls>
  static void EachOperand(const See& see, Calls&... calls) {
    see(Operand{"x"}, calls.x...);
    see(Operand{"weight"}, calls.weight...);
    see(Operand{"bias"}, calls.bias...);
    see(Output("out"), calls.out...);
    see(Output("out_scale", OperandForm::kE4m3), calls.out_scale...);
    see(Option("eps"), calls.eps...);
    see(Option("weight_offset"), calls.weight_offset...);
    see(Option("round_before_weight"), calls.round_before_weight...);
    see(Option("static_out_scale", OperandForm::kE4m3), calls.static_out_scale...);
  }
};
using RmsNormArgs = RmsNormOperands<Views>;

// INVALID_ARGUMENT for wrong sizes, dtypes, overlaps or eps, UNIMPLEMENTED for a dtype other than
// fp16, bf16, fp32, FAILED_PRECONDITION if no variant can run, INTERNAL, RESOURCE_EXHAUSTED or
// ABORTED from a device.
absl::Status RmsNorm(const RmsNormArgs& args, const Execution& run);

OpVariants RmsNormCpuVariants();

}  // namespace reel::kernels
