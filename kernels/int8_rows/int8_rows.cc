// SPDX-License-Identifier: Apache-2.0
#include "kernels/int8_rows/int8_rows.h"

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/run_op.h"
#include "kernels/int8_rows/int8_rows_launch.h"
#include "kernels/rows/coded_output.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

constexpr KernelVariant kCpuVariants[] = {CpuVariant<Int8RowsLoops>("loops")};
static_assert(kTurned == kTurnedTogether);

void Check(const Int8RowsArgs& args, ArgumentChecks& checks) {
  checks.Floating("x", args.x, 1, kMaxRowDims);
  checks.Typed("out", args.out, MaskOf(Dtype::kI8), 1, kMaxRowDims);
  if (!checks.ok()) return;
  checks.Require(args.out.shape() == args.x.shape(),
                 absl::StrCat("Sizes must be equal: out ", Describe(args.out), " beside x ",
                              Describe(args.x)));
  checks.Require(
      args.x.size(-1) % kTurnedTogether == 0,
      absl::StrCat("The width must be a multiple of ", kTurnedTogether, ": x ", Describe(args.x)));
  CheckRowScales("scale", args.scale, args.x, checks);
  checks.Output("scale", args.scale);
  checks.Output("out", args.out);
}

}  // namespace

OpVariants Int8RowsCpuVariants() { return MakeVariants<Int8RowsParams>("int8_rows", kCpuVariants); }

absl::Status Int8Rows(const Int8RowsArgs& args, const Execution& run) {
  ArgumentChecks checks("int8_rows", run.stream);
  Check(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  Int8RowsParams params{.shape = RowsOf(args.x),
                        .x = RowsOperand(args.x),
                        .out = RowsOperand(args.out),
                        .scale = RowScales(args.scale),
                        .gelu = args.gelu};
  MergeRowDims(params.shape, {&params.x, &params.out, &params.scale});
  return RunOp({.cpu_variants = Int8RowsCpuVariants(),
                .dtype = args.x.dtype,
                .params = &params,
                .empty = args.x.num_elements() == 0,
                .tensors = [&] { return checks.Tensors(); }},
               run);
}

}  // namespace reel::kernels
