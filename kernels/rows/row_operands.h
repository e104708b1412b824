// SPDX-License-Identifier: Apache-2.0
// Turns tensor views into row operands, on the host, after an operator has checked its arguments.
#pragma once

#include <initializer_list>
#include <optional>

#include "kernels/base/tensor_view.h"
#include "kernels/rows/row_layout.h"

namespace reel::kernels {

// The rows of x: every dim but the last.
RowShape RowsOf(const TensorView& x);

// A tensor with the same leading sizes as x.
RowOperand RowsOperand(const TensorView& view);
// A vector [D], or with leading dims [B,D], [B,1,D], [B,S,D] beside rows of two leading dims;
// absent: null data.
RowOperand VectorOperand(const std::optional<TensorView>& view);

// Merges leading dims wherever every operand lets two of them run as one.
void MergeRowDims(RowShape& shape, std::initializer_list<RowOperand*> operands);

// What 16-byte code takes: elements side by side, every row at a multiple of 16 bytes, and
// at most two leading dims that do not merge. Absent operands fit, and every call without elements.
bool FitsVectorElements(const RowShape& shape, const RowOperand& x,
                        std::initializer_list<const RowOperand*> operands);
// The same for code that holds a row in registers.
inline constexpr int64_t kMaxVectorRowBytes = 16384;
bool FitsVectorRows(const RowShape& shape, const RowOperand& x,
                    std::initializer_list<const RowOperand*> operands);
// Whether an output is there in codes, e4m3 or int8, instead of the type of its rows.
inline bool HasCodes(const RowOperand& out) {
  return out.dtype == Dtype::kE4m3 || out.dtype == Dtype::kI8;
}
// Whether an output in codes takes runs of so many bytes.
bool FitsCodeRuns(const RowShape& shape, const RowOperand& out, int64_t bytes);
// Whether an e4m3 output beside them takes a whole vector of x at once: 8 bytes, or 4 of fp32.
bool FitsE4m3Vectors(const RowShape& shape, const RowOperand& x, const RowOperand& out);

}  // namespace reel::kernels
