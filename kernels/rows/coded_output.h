// SPDX-License-Identifier: Apache-2.0
// The output `out` of an operator that may write codes instead of its input's type, e4m3 or, where
// it says so, int8: what its door refuses, and the scale as parameters. For operators' .cc files.
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

// Types and sizes: `out` like x, or codes of the sizes of x with one of the two scales, int8 with
// out_scale.
void CheckOutputForm(const OutputArgs& args, ArgumentChecks& checks);
// That it overlaps nothing, or in x's type is exactly one of `may_be`. After all tensors have been
// named.
void CheckOutputPlace(const OutputArgs& args, ArgumentChecks& checks,
                      std::initializer_list<const TensorView*> may_be = {});

// One scale for every row of x, fp32.
void CheckRowScales(const char* name, const TensorView& scale, const TensorView& x,
                    ArgumentChecks& checks);
// Scales of rows, one element each.
RowOperand RowScales(const TensorView& view);
// Of arguments that were checked.
CodeScale OutputScale(const OutputArgs& args);

}  // namespace reel::kernels
