// SPDX-License-Identifier: Apache-2.0
// int8_rows: converts rows to int8 with a scale each, rotated so that no channel stands out, for a
// matrix product in 8 bits; int8_layout.h has the formula. Of x, or of gelu_tanh(x).
//
// x may have any strides; nothing overlaps. INVALID_ARGUMENT unless D is a multiple of 32.
#pragma once

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

inline constexpr int64_t kTurnedTogether = 32;

struct Int8RowsArgs {
  TensorView x;      // [..., D], rank 1 to 5
  TensorView out;    // int8, the sizes of x
  TensorView scale;  // fp32 [...], one a row
  bool gelu = false;
};

absl::Status Int8Rows(const Int8RowsArgs& args, const Execution& run);

OpVariants Int8RowsCpuVariants();

}  // namespace reel::kernels
