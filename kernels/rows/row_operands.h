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

// Merges leading dims that every operand lets run as one.
void MergeRowDims(RowShape& shape, std::initializer_list<RowOperand*> operands);

// Whether 16-byte code takes the rows: contiguous elements, every row at a multiple of 16 bytes,
// and at most two leading dims after merging. Absent operands fit, and so do calls without
// elements.
bool FitsVectorElements(const RowShape& shape, const RowOperand& x,
                        std::initializer_list<const RowOperand*> operands);
// The same for code that holds a row in registers.
inline constexpr int64_t kMaxVectorRowBytes = 16384;
bool FitsVectorRows(const RowShape& shape, const RowOperand& x,
                    std::initializer_list<const RowOperand*> operands);
// Whether an output is given as codes, e4m3 or int8, instead of the type of its rows.
inline bool HasCodes(const RowOperand& out) {
  return out.dtype == Dtype::kE4m3 || out.dtype == Dtype::kI8;
}
// Whether an output in codes can be written in runs of so many bytes.
bool FitsCodeRuns(const RowShape& shape, const RowOperand& out, int64_t bytes);
// Whether an e4m3 output beside them can be written for a whole vector of x at once: 8 bytes, or 4
// for fp32.
bool FitsE4m3Vectors(const RowShape& shape, const RowOperand& x, const RowOperand& out);

}  // namespace reel::kernels
