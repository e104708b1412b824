// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear/linear.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/run_op.h"
#include "kernels/linear/linear_launch.h"
#include "kernels/rows/coded_output.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

constexpr KernelVariant kCpuVariants[] = {CpuVariant<LinearLoops>("loops")};
constexpr DtypeMask kCodes = MaskOf(Dtype::kE4m3) | MaskOf(Dtype::kI8);
constexpr DtypeMask kOperands = kAnyFloating | kCodes;

bool HasCodes(const LinearArgs& args) { return (kCodes & MaskOf(args.x.dtype)) != 0; }

void CheckTypes(const LinearArgs& args, ArgumentChecks& checks) {
  const bool out_fits = HasCodes(args) || args.out.dtype == args.x.dtype;
  checks.Require(args.weight.dtype == args.x.dtype && out_fits,
                 absl::StrCat("The dtypes must be equal: ", checks.Shapes()));
  const bool scaled = args.x_scale.has_value() && args.weight_scale.has_value();
  const bool plain = !args.x_scale.has_value() && !args.weight_scale.has_value();
  checks.Require(HasCodes(args) ? scaled : plain,
                 "x_scale and weight_scale belong to e4m3 and int8, and both to each call of them");
}

void CheckScales(const LinearArgs& args, ArgumentChecks& checks) {
  if (!checks.ok() || !HasCodes(args)) return;
  CheckRowScales("x_scale", *args.x_scale, args.x, checks);
  checks.Typed("weight_scale", *args.weight_scale, MaskOf(Dtype::kF32), 1, 1);
  if (checks.ok()) checks.Sizes("weight_scale", *args.weight_scale, {args.weight.size(0)});
}

void Check(const LinearArgs& args, ArgumentChecks& checks) {
  checks.Typed("x", args.x, kOperands, 1, kMaxRowDims);
  checks.Typed("weight", args.weight, kOperands, 2, 2);
  if (args.bias.has_value()) checks.Floating("bias", *args.bias, 1, 1);
  checks.Floating("out", args.out, 1, kMaxRowDims);
  if (!checks.ok()) return;
  const int64_t outputs = args.weight.size(0);
  CheckTypes(args, checks);
  checks.Require(args.weight.size(1) == args.x.size(-1),
                 absl::StrCat("The widths must be equal: ", checks.Shapes()));
  const auto x = args.x.shape(), out = args.out.shape();
  checks.Require(x.size() == out.size() && out.back() == outputs &&
                     std::equal(x.begin(), x.end() - 1, out.begin()),
                 absl::StrCat("The sizes do not fit: ", checks.Shapes()));
  if (args.bias.has_value()) {
    if (checks.ok()) checks.Sizes("bias", *args.bias, {outputs});
    checks.VectorDtype("bias", *args.bias, args.out);
  }
  CheckScales(args, checks);
  checks.Output("out", args.out);
}

RowOperand OptionalScales(const std::optional<TensorView>& view) {
  return view.has_value() ? RowScales(*view) : RowOperand{};
}

}  // namespace

OpVariants LinearCpuVariants() { return MakeVariants<LinearParams>("linear", kCpuVariants); }

absl::Status CheckLinear(const LinearArgs& args, DeviceStream stream) {
  ArgumentChecks checks("linear", stream);
  Check(args, checks);
  return checks.status();
}

absl::Status Linear(const LinearArgs& args, const Execution& run) {
  ArgumentChecks checks("linear", run.stream);
  Check(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  LinearParams params{.shape = RowsOf(args.x),
                      .outputs = args.weight.size(0),
                      .x = RowsOperand(args.x),
                      .weight = RowsOperand(args.weight),
                      .bias = VectorOperand(args.bias),
                      .out = RowsOperand(args.out),
                      .x_scale = OptionalScales(args.x_scale),
                      .weight_scale = VectorOperand(args.weight_scale)};
  MergeRowDims(params.shape, {&params.x, &params.out, &params.x_scale});
  return RunOp({.cpu_variants = LinearCpuVariants(),
                .dtype = args.out.dtype,
                .params = &params,
                .empty = args.out.num_elements() == 0,
                .tensors = [&] { return checks.Tensors(); },
                .for_plugins = !HasCodes(args)},
               run);
}

}  // namespace reel::kernels
