// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/coded_output.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "kernels/rows/int8_layout.h"

namespace reel::kernels {
namespace {

// The scale as kernels take it.
bool IsLegal(double scale) {
  const auto taken = static_cast<float>(scale);
  return std::isfinite(taken) && taken > 0;
}

// The differences from e4m3.
void CheckInt8Form(const OutputArgs& args, ArgumentChecks& checks) {
  if (!checks.ok()) return;
  checks.Require(args.out_scale.has_value() && !args.static_out_scale.has_value(),
                 "An int8 output has an out_scale of its own and no static one");
  if (!checks.ok()) return;
  CheckRowScales("out_scale", *args.out_scale, args.x, checks);
  checks.Require(args.x.size(-1) % kTurned == 0,
                 absl::StrCat("The width of an int8 output must be a multiple of ", kTurned, ": x ",
                              Describe(args.x)));
}

}  // namespace

void CheckRowScales(const char* name, const TensorView& scale, const TensorView& x,
                    ArgumentChecks& checks) {
  if (!checks.ok()) return;
  checks.Typed(name, scale, MaskOf(Dtype::kF32), x.rank - 1, x.rank - 1);
  if (!checks.ok()) return;
  for (int d = 0; d + 1 < x.rank; ++d) {
    if (scale.size(d) == x.size(d)) continue;
    checks.Require(false, absl::StrCat("There must be one scale for every row: ", name, " ",
                                       Describe(scale), " beside ", Describe(x)));
  }
}

void CheckOutputForm(const OutputArgs& args, ArgumentChecks& checks) {
  if (!checks.ok()) return;
  const bool scaled = args.out_scale.has_value();
  const bool fixed = args.static_out_scale.has_value();
  if (!IsCodes(args)) {
    checks.Like("out", args.out, "x", args.x);
    checks.Require(
        !scaled && !fixed,
        absl::StrCat("out_scale and static_out_scale belong to an output in codes: out is ",
                     DtypeName(args.out.dtype)));
    return;
  }
  const bool is_int8 = args.out.dtype == Dtype::kI8;
  checks.Typed("out", args.out, MaskOf(Dtype::kE4m3) | MaskOf(Dtype::kI8), args.x.rank,
               args.x.rank);
  checks.Require(!checks.ok() || args.out.shape() == args.x.shape(),
                 checks.ok() ? absl::StrCat("Sizes must be equal: out ", Describe(args.out),
                                            " beside x ", Describe(args.x))
                             : "");
  if (is_int8) return CheckInt8Form(args, checks);
  checks.Require(
      scaled != fixed,
      "Either out_scale is written or static_out_scale is taken, one of them must be given");
  if (scaled) CheckRowScales("out_scale", *args.out_scale, args.x, checks);
  checks.Require(!fixed || IsLegal(*args.static_out_scale),
                 absl::StrCat("static_out_scale must be finite and above zero as fp32: ",
                              args.static_out_scale.value_or(0)));
}

void CheckOutputPlace(const OutputArgs& args, ArgumentChecks& checks,
                      std::initializer_list<const TensorView*> may_be) {
  if (!IsCodes(args)) return checks.Output("out", args.out, may_be);
  checks.Output("out", args.out);
  if (args.out_scale.has_value()) checks.Output("out_scale", *args.out_scale);
}

RowOperand RowScales(const TensorView& view) {
  RowOperand operand{.data = view.data, .dtype = Dtype::kF32, .inner = 1, .strides = {}};
  for (int d = 0; d < view.rank; ++d) operand.strides[d] = view.stride(d);
  return operand;
}

CodeScale OutputScale(const OutputArgs& args) {
  CodeScale scale;
  if (args.out_scale.has_value()) scale.rows = RowScales(*args.out_scale);
  if (args.static_out_scale.has_value()) scale.fixed = static_cast<float>(*args.static_out_scale);
  return scale;
}

}  // namespace reel::kernels
