// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear/linear.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/run_op.h"
#include "kernels/linear/linear_launch.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

constexpr KernelVariant kCpuVariants[] = {CpuVariant<LinearLoops>("loops")};

void Check(const LinearArgs& args, ArgumentChecks& checks) {
  checks.Floating("x", args.x, 1, kMaxRowDims);
  checks.Floating("weight", args.weight, 2, 2);
  if (args.bias.has_value()) checks.Floating("bias", *args.bias, 1, 1);
  checks.Floating("out", args.out, 1, kMaxRowDims);
  if (!checks.ok()) return;
  const int64_t outputs = args.weight.size(0);
  checks.Require(args.weight.dtype == args.x.dtype && args.out.dtype == args.x.dtype,
                 absl::StrCat("The dtypes must be equal: ", checks.Shapes()));
  checks.Require(args.weight.size(1) == args.x.size(-1),
                 absl::StrCat("The widths must be equal: ", checks.Shapes()));
  const auto x = args.x.shape(), out = args.out.shape();
  checks.Require(x.size() == out.size() && out.back() == outputs &&
                     std::equal(x.begin(), x.end() - 1, out.begin()),
                 absl::StrCat("The sizes do not fit: ", checks.Shapes()));
  if (args.bias.has_value()) {
    if (checks.ok()) checks.Sizes("bias", *args.bias, {outputs});
    checks.VectorDtype("bias", *args.bias, args.x);
  }
  checks.Output("out", args.out);
}

}  // namespace

OpVariants LinearCpuVariants() { return MakeVariants<LinearParams>("linear", kCpuVariants); }

absl::Status Linear(const LinearArgs& args, const Execution& run) {
  ArgumentChecks checks("linear", run.stream);
  Check(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  LinearParams params{.shape = RowsOf(args.x),
                      .outputs = args.weight.size(0),
                      .x = RowsOperand(args.x),
                      .weight = RowsOperand(args.weight),
                      .bias = VectorOperand(args.bias),
                      .out = RowsOperand(args.out)};
  MergeRowDims(params.shape, {&params.x, &params.out});
  return RunOp({.cpu_variants = LinearCpuVariants(),
                .dtype = args.x.dtype,
                .params = &params,
                .empty = args.out.num_elements() == 0,
                .tensors = [&] { return checks.Tensors(); }},
               run);
}

}  // namespace reel::kernels
