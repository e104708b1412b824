// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantize_rows/quantize_rows.h"

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/run_op.h"
#include "kernels/quantize_rows/quantize_rows_launch.h"
#include "kernels/rows/coded_output.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {
namespace {

constexpr KernelVariant kCpuVariants[] = {CpuVariant<QuantizeRowsLoops>("loops")};

void Check(const QuantizeRowsArgs& args, ArgumentChecks& checks) {
  checks.Floating("x", args.x, 1, kMaxRowDims);
  checks.Typed("out", args.out, MaskOf(Dtype::kE4m3), 1, kMaxRowDims);
  checks.Require(!checks.ok() || args.out.shape() == args.x.shape(),
                 checks.ok() ? absl::StrCat("Sizes must be equal: out ", Describe(args.out),
                                            " beside x ", Describe(args.x))
                             : "");
  checks.Require(args.scale.has_value() != args.static_scale.has_value(),
                 "Either scale is written or static_scale is read, one of them must be given");
  if (!checks.ok()) return;
  if (args.static_scale.has_value()) {
    checks.Typed("static_scale", *args.static_scale, MaskOf(Dtype::kF32), 1, 1);
    if (checks.ok()) checks.Sizes("static_scale", *args.static_scale, {1});
  } else {
    CheckRowScales("scale", *args.scale, args.x, checks);
    checks.Output("scale", *args.scale);
  }
  checks.Output("out", args.out);
}

QuantizeRowsParams ParamsOf(const QuantizeRowsArgs& args) {
  QuantizeRowsParams params;
  params.shape = RowsOf(args.x);
  params.x = RowsOperand(args.x);
  params.out = RowsOperand(args.out);
  if (args.static_scale.has_value()) {
    params.static_scale = static_cast<const float*>(args.static_scale->data);
  } else {
    params.scale = RowScales(*args.scale);
  }
  MergeRowDims(params.shape, {&params.x, &params.out, &params.scale});
  return params;
}

}  // namespace

OpVariants QuantizeRowsCpuVariants() {
  return MakeVariants<QuantizeRowsParams>("quantize_rows", kCpuVariants);
}

absl::Status QuantizeRows(const QuantizeRowsArgs& args, const Execution& run) {
  ArgumentChecks checks("quantize_rows", run.stream);
  Check(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  const QuantizeRowsParams params = ParamsOf(args);
  return RunOp({.cpu_variants = QuantizeRowsCpuVariants(),
                .dtype = args.x.dtype,
                .params = &params,
                .empty = args.x.num_elements() == 0,
                .tensors = [&] { return checks.Tensors(); }},
               run);
}

}  // namespace reel::kernels
