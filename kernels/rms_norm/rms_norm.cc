// SPDX-License-Identifier: Apache-2.0
#include "kernels/rms_norm/rms_norm.h"

#include "kernels/base/status_macros.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/run_op.h"
#include "kernels/rms_norm/rms_norm_launch.h"
#include "kernels/rows/coded_output.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

constexpr KernelVariant kCpuVariants[] = {
    CpuVariant<RmsNormCpu, RmsNormCpuAccepts>("cpu"),
    CpuVariant<RmsNormLoops>("loops"),
};

void Check(const RmsNormArgs& args, ArgumentChecks& checks) {
  checks.Floating("x", args.x, 1, kMaxRowDims);
  CheckOutputForm(OutputOf(args), checks);
  checks.Channels("weight", args.weight, args.x);
  checks.Channels("bias", args.bias, args.x);
  checks.Epsilon(args.eps);
  CheckOutputPlace(OutputOf(args), checks, {&args.x});
}

RmsNormParams ParamsOf(const RmsNormArgs& args) {
  RmsNormParams params{.shape = RowsOf(args.x),
                       .x = RowsOperand(args.x),
                       .weight = VectorOperand(args.weight),
                       .bias = VectorOperand(args.bias),
                       .out = RowsOperand(args.out),
                       .eps = static_cast<float>(args.eps),
                       .weight_offset = static_cast<float>(args.weight_offset),
                       .round_before_weight = args.round_before_weight,
                       .out_scale = OutputScale(OutputOf(args))};
  MergeRowDims(params.shape,
               {&params.x, &params.weight, &params.bias, &params.out, &params.out_scale.rows});
  return params;
}

}  // namespace

OpVariants RmsNormCpuVariants() { return MakeVariants<RmsNormParams>("rms_norm", kCpuVariants); }

absl::Status RmsNorm(const RmsNormArgs& args, const Execution& run) {
  ArgumentChecks checks("rms_norm", run.stream);
  Check(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  const RmsNormParams params = ParamsOf(args);
  return RunOp({.cpu_variants = RmsNormCpuVariants(),
                .dtype = args.x.dtype,
                .params = &params,
                .empty = args.x.num_elements() == 0,
                .tensors = [&] { return checks.Tensors(); },
                .for_plugins = params.out.dtype != Dtype::kE4m3},
               run);
}

}  // namespace reel::kernels
