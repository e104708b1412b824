// SPDX-License-Identifier: Apache-2.0
#include "kernels/norm_linear/norm_linear.h"

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/run_op.h"
#include "kernels/norm_linear/norm_linear_launch.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

constexpr KernelVariant kCpuVariants[] = {CpuVariant<NormLinearLoops>("loops")};
constexpr KernelVariant kPrepareCpuVariants[] = {CpuVariant<PrepareNormLinearLoops>("loops")};

// fp32, one for each output.
void CheckEachOutput(const char* name, const std::optional<TensorView>& view, int64_t outputs,
                     ArgumentChecks& checks) {
  if (!view.has_value()) return;
  checks.Typed(name, *view, MaskOf(Dtype::kF32), 1, 1);
  if (checks.ok()) checks.Sizes(name, *view, {outputs});
}

// [O] in the dtype of `beside`, or fp32.
void CheckBias(const std::optional<TensorView>& bias, const TensorView& beside, int64_t outputs,
               ArgumentChecks& checks) {
  if (!bias.has_value()) return;
  checks.Floating("bias", *bias, 1, 1);
  if (checks.ok()) checks.Sizes("bias", *bias, {outputs});
  checks.VectorDtype("bias", *bias, beside);
}

void Check(const PrepareNormLinearArgs& args, ArgumentChecks& checks) {
  const NormLinearWeight& prepared = args.prepared;
  checks.Floating("weight", args.weight, 2, 2);
  checks.Channels("norm_weight", args.norm_weight, args.weight);
  checks.Channels("norm_bias", args.norm_bias, args.weight);
  if (!checks.ok()) return;
  const int64_t outputs = args.weight.size(0);
  CheckBias(args.bias, args.weight, outputs, checks);
  checks.Like("prepared weight", prepared.weight, "weight", args.weight);
  CheckEachOutput("prepared bias", prepared.bias, outputs, checks);
  CheckEachOutput("sums", prepared.sums, outputs, checks);
  checks.Require(
      prepared.bias.has_value() || (!args.bias.has_value() && !args.norm_bias.has_value()),
      "There must be a prepared bias where there is a bias or a norm_bias");
  checks.Output("prepared weight", prepared.weight, {&args.weight});
  if (prepared.bias.has_value()) checks.Output("prepared bias", *prepared.bias);
  if (prepared.sums.has_value()) checks.Output("sums", *prepared.sums);
}

// The sizes of x, with the number of outputs as the last.
bool LeadsLike(const TensorView& out, const TensorView& x, int64_t outputs) {
  if (out.rank != x.rank || out.size(-1) != outputs) return false;
  for (int d = 0; d + 1 < x.rank; ++d) {
    if (out.size(d) != x.size(d)) return false;
  }
  return true;
}

void Check(const NormLinearArgs& args, ArgumentChecks& checks) {
  checks.Floating("x", args.x, 1, kMaxRowDims);
  checks.Floating("weight", args.linear.weight, 2, 2);
  checks.Floating("out", args.out, 1, kMaxRowDims);
  if (!checks.ok()) return;
  const TensorView& weight = args.linear.weight;
  const int64_t outputs = weight.size(0);
  checks.Require(weight.dtype == args.x.dtype && args.out.dtype == args.x.dtype,
                 absl::StrCat("The dtypes must be equal: x ", Describe(args.x), ", weight ",
                              Describe(weight), ", out ", Describe(args.out)));
  checks.Require(weight.size(1) == args.x.size(-1),
                 absl::StrCat("The widths must be equal: x ", Describe(args.x), ", weight ",
                              Describe(weight)));
  checks.Require(LeadsLike(args.out, args.x, outputs),
                 absl::StrCat("The sizes do not fit: out ", Describe(args.out), " for x ",
                              Describe(args.x), " and ", outputs, " outputs"));
  CheckBias(args.linear.bias, args.x, outputs, checks);
  CheckEachOutput("sums", args.linear.sums, outputs, checks);
  checks.Epsilon(args.eps);
  checks.Output("out", args.out);
}

PrepareNormLinearParams ParamsOf(const PrepareNormLinearArgs& args) {
  return {.shape = RowsOf(args.weight),
          .weight = RowsOperand(args.weight),
          .norm_weight = VectorOperand(args.norm_weight),
          .norm_bias = VectorOperand(args.norm_bias),
          .bias = VectorOperand(args.bias),
          .folded = RowsOperand(args.prepared.weight),
          .folded_bias = VectorOperand(args.prepared.bias),
          .sums = VectorOperand(args.prepared.sums)};
}

NormLinearParams ParamsOf(const NormLinearArgs& args) {
  NormLinearParams params{.shape = RowsOf(args.x),
                          .outputs = args.linear.weight.size(0),
                          .x = RowsOperand(args.x),
                          .out = RowsOperand(args.out),
                          .weight = RowsOperand(args.linear.weight),
                          .bias = VectorOperand(args.linear.bias),
                          .sums = VectorOperand(args.linear.sums),
                          .eps = static_cast<float>(args.eps)};
  MergeRowDims(params.shape, {&params.x, &params.out});
  return params;
}

}  // namespace

OpVariants PrepareNormLinearCpuVariants() {
  return MakeVariants<PrepareNormLinearParams>("prepare_norm_linear", kPrepareCpuVariants);
}
OpVariants NormLinearCpuVariants() {
  return MakeVariants<NormLinearParams>("norm_linear", kCpuVariants);
}

absl::Status PrepareNormLinear(const PrepareNormLinearArgs& args, const Execution& run) {
  ArgumentChecks checks("prepare_norm_linear", run.stream);
  Check(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  const PrepareNormLinearParams params = ParamsOf(args);
  return RunOp({.cpu_variants = PrepareNormLinearCpuVariants(),
                .dtype = args.weight.dtype,
                .params = &params,
                .empty = params.shape.rows == 0,
                .tensors = [&] { return checks.Tensors(); }},
               run);
}

absl::Status NormLinear(const NormLinearArgs& args, const Execution& run) {
  ArgumentChecks checks("norm_linear", run.stream);
  Check(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  const NormLinearParams params = ParamsOf(args);
  return RunOp({.cpu_variants = NormLinearCpuVariants(),
                .dtype = args.x.dtype,
                .params = &params,
                .empty = args.out.num_elements() == 0,
                .tensors = [&] { return checks.Tensors(); }},
               run);
}

}  // namespace reel::kernels
