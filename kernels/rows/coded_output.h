// SPDX-License-Identifier: Apache-2.0
// Checks an operator's output `out` that may be codes (e4m3 or, for some operators, int8) instead
// of its input's type, and turns its scale into parameters. For operators' .cc files.
#pragma once

#include <initializer_list>
#include <optional>

#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/rows/e4m3_layout.h"

namespace reel::kernels {

// Refers to an operator's arguments.
struct OutputArgs {
  const TensorView& x;
  const TensorView& out;
  const std::optional<TensorView>& out_scale;
  std::optional<double> static_out_scale;
  bool may_be_int8 = false;
};
template <typename Args>
OutputArgs OutputOf(const Args& args) {
  return {args.x, args.out, args.out_scale, args.static_out_scale};
}

inline bool IsCodes(const OutputArgs& args) {
  return args.out.dtype == Dtype::kE4m3 || (args.may_be_int8 && args.out.dtype == Dtype::kI8);
}

// Checks types and sizes: `out` like x, or codes of x's sizes with one of the two scales; int8 with
// out_scale.
void CheckOutputForm(const OutputArgs& args, ArgumentChecks& checks);
// Checks that it overlaps nothing, or, in x's type, is exactly one of `may_be`. Call after all
// tensors have been named.
void CheckOutputPlace(const OutputArgs& args, ArgumentChecks& checks,
                      std::initializer_list<const TensorView*> may_be = {});

// One scale for all rows of x, fp32.
void CheckRowScales(const char* name, const TensorView& scale, const TensorView& x,
                    ArgumentChecks& checks);
// Scales of rows, one element each.
RowOperand RowScales(const TensorView& view);
// The parameters of checked arguments.
CodeScale OutputScale(const OutputArgs& args);

}  // namespace reel::kernels
