// SPDX-License-Identifier: Apache-2.0
#include "kernels/head_gate/head_gate.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/run_op.h"
#include "kernels/head_gate/head_gate_launch.h"
#include "kernels/rows/coded_output.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

constexpr KernelVariant kCpuVariants[] = {CpuVariant<HeadGateLoops>("loops")};

// True if each row of x has a row of logits.
bool HasSameRows(const TensorView& x, const TensorView& logits) {
  if (x.rank != logits.rank) return false;
  for (int d = 0; d + 1 < x.rank; ++d) {
    if (x.size(d) != logits.size(d)) return false;
  }
  return true;
}

OutputArgs OutputOf(const HeadGateArgs& args) {
  return {args.x, args.out, args.out_scale, std::nullopt, /*may_be_int8=*/true};
}

void Check(const HeadGateArgs& args, ArgumentChecks& checks) {
  checks.Floating("x", args.x, 1, kMaxRowDims);
  checks.Floating("logits", args.logits, 1, kMaxRowDims);
  CheckOutputForm(OutputOf(args), checks);
  if (!checks.ok()) return;
  const int64_t width = args.x.size(-1), heads = args.logits.size(-1);
  checks.Require(args.logits.dtype == args.x.dtype && HasSameRows(args.x, args.logits),
                 "The logits must have the rows and the dtype of x");
  checks.Require(heads > 0 ? width % heads == 0 : width == 0,
                 absl::StrCat(heads, " heads do not fill a width of ", width));
  CheckOutputPlace(OutputOf(args), checks, {&args.x});
}

}  // namespace

OpVariants HeadGateCpuVariants() { return MakeVariants<HeadGateParams>("head_gate", kCpuVariants); }

absl::Status HeadGate(const HeadGateArgs& args, const Execution& run) {
  ArgumentChecks checks("head_gate", run.stream);
  Check(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  HeadGateParams params = {.shape = RowsOf(args.x),
                           .x = RowsOperand(args.x),
                           .logits = RowsOperand(args.logits),
                           .out = RowsOperand(args.out),
                           .out_scale = OutputScale(OutputOf(args))};
  const bool is_empty = args.x.num_elements() == 0;
  if (!is_empty) params.head_width = args.x.size(-1) / args.logits.size(-1);
  MergeRowDims(params.shape, {&params.x, &params.logits, &params.out, &params.out_scale.rows});
  return RunOp({.cpu_variants = HeadGateCpuVariants(),
                .dtype = args.x.dtype,
                .params = &params,
                .empty = is_empty,
                .tensors = [&] { return checks.Tensors(); },
                .for_plugins = !HasCodes(params.out)},
               run);
}

}  // namespace reel::kernels
