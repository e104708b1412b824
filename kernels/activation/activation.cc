// SPDX-License-Identifier: Apache-2.0
#include "kernels/activation/activation.h"

#include "absl/strings/str_cat.h"
#include "kernels/activation/activation_launch.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/run_op.h"
#include "kernels/rows/coded_output.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

constexpr KernelVariant kCpuVariants[] = {
    CpuVariant<ActivationCpu, ActivationCpuAccepts>("cpu"),
    CpuVariant<ActivationLoops>("loops"),
};

absl::Status Launch(const OpVariants& rows, ActivationParams params, const ArgumentChecks& checks,
                    const Execution& run) {
  MergeRowDims(params.shape,
               {&params.x, &params.bias, &params.value, &params.out, &params.out_scale.rows});
  return RunOp(
      {.cpu_variants = rows,
       .dtype = params.x.dtype,
       .params = &params,
       .empty = params.shape.rows == 0 || params.shape.width == 0,
       .tensors = [&] { return checks.Tensors(); },
       .for_plugins = params.out.dtype != Dtype::kE4m3 && params.kind != Activation::kFatRelu},
      run);
}

// Checks `out`: like `x`, but half as wide.
void CheckHalves(const GatedActivationArgs& args, ArgumentChecks& checks) {
  checks.Floating("out", args.out, 1, kMaxRowDims);
  if (!checks.ok()) return;
  const int64_t width = args.x.size(-1);
  checks.Require(width % 2 == 0, absl::StrCat("The halves of an odd width differ: ", width));
  TensorView half = args.x;
  if (half.rank > 0) half = Slice(half, -1, 0, width / 2);
  checks.Require(args.out.dtype == half.dtype && args.out.shape() == half.shape(),
                 absl::StrCat("The output must be half as wide as its input: ", Describe(args.out),
                              " beside ", Describe(args.x)));
}

}  // namespace

absl::Status ReadKind(const std::string& name, Activation& kind) {
  for (const Activation each : {Activation::kGeluErf, Activation::kGeluTanh, Activation::kGeluQuick,
                                Activation::kSilu, Activation::kFatRelu}) {
    if (name != KindName(each)) continue;
    kind = each;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "An activation is gelu, gelu_tanh, gelu_quick, silu or fatrelu, not '", name, "'"));
}

OpVariants ActivationCpuVariants() {
  return MakeVariants<ActivationParams>("activation", kCpuVariants);
}
OpVariants GatedActivationCpuVariants() {
  return MakeVariants<ActivationParams>("gated_activation", kCpuVariants);
}

absl::Status ActivationOp(const ActivationArgs& args, const Execution& run) {
  ArgumentChecks checks("activation", run.stream);
  checks.Floating("x", args.x, 1, kMaxRowDims);
  CheckOutputForm(OutputOf(args), checks);
  checks.Channels("bias", args.bias, args.x);
  CheckOutputPlace(OutputOf(args), checks, {&args.x});
  REEL_RETURN_IF_ERROR(checks.status());
  return Launch(ActivationCpuVariants(),
                {.shape = RowsOf(args.x),
                 .x = RowsOperand(args.x),
                 .bias = VectorOperand(args.bias),
                 .value = {},
                 .out = RowsOperand(args.out),
                 .kind = args.kind,
                 .out_scale = OutputScale(OutputOf(args)),
                 .threshold = static_cast<float>(args.threshold)},
                checks, run);
}

absl::Status GatedActivation(const GatedActivationArgs& args, const Execution& run) {
  ArgumentChecks checks("gated_activation", run.stream);
  checks.Floating("x", args.x, 1, kMaxRowDims);
  if (args.value.has_value()) {
    checks.Like("value", *args.value, "x", args.x);
    checks.Like("out", args.out, "x", args.x);
  } else {
    CheckHalves(args, checks);
  }
  checks.Output("out", args.out);
  REEL_RETURN_IF_ERROR(checks.status());
  const int64_t width = args.out.size(-1);
  TensorView gate = args.x;
  TensorView value = args.value.value_or(args.x);
  if (!args.value.has_value()) {
    gate = Slice(args.x, -1, args.gate_first ? 0 : width, width);
    value = Slice(args.x, -1, args.gate_first ? width : 0, width);
  }
  return Launch(GatedActivationCpuVariants(),
                {.shape = RowsOf(args.out),
                 .x = RowsOperand(gate),
                 .bias = {},
                 .value = RowsOperand(value),
                 .out = RowsOperand(args.out),
                 .kind = args.kind,
                 .threshold = static_cast<float>(args.threshold)},
                checks, run);
}

}  // namespace reel::kernels
