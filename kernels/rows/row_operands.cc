// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/row_operands.h"

#include <algorithm>

namespace reel::kernels {

RowShape RowsOf(const TensorView& x) {
  RowShape shape;
  shape.width = x.size(-1);
  shape.dims = x.rank - 1;
  for (int d = 0; d < shape.dims; ++d) {
    shape.sizes[d] = x.size(d);
    shape.rows *= x.size(d);
  }
  return shape;
}

RowOperand RowsOperand(const TensorView& view) {
  RowOperand operand{
      .data = view.data, .dtype = view.dtype, .inner = view.stride(-1), .strides = {}};
  for (int d = 0; d + 1 < view.rank; ++d) operand.strides[d] = view.stride(d);
  return operand;
}

RowOperand VectorOperand(const std::optional<TensorView>& view) {
  if (!view.has_value()) return {};
  RowOperand operand = RowsOperand(*view);
  for (int d = 0; d + 1 < view->rank; ++d) {
    if (view->size(d) == 1) operand.strides[d] = 0;
  }
  return operand;
}

void MergeRowDims(RowShape& shape, std::initializer_list<RowOperand*> operands) {
  const auto drop = [&](int32_t dim) {
    for (int32_t d = dim; d + 1 < shape.dims; ++d) {
      shape.sizes[d] = shape.sizes[d + 1];
      for (RowOperand* operand : operands) operand->strides[d] = operand->strides[d + 1];
    }
    --shape.dims;
  };
  const auto continues = [&](int32_t dim) {
    return std::all_of(operands.begin(), operands.end(), [&](const RowOperand* operand) {
      return operand->strides[dim] == operand->strides[dim + 1] * shape.sizes[dim + 1];
    });
  };
  for (int32_t d = shape.dims; d-- > 0;) {
    if (shape.sizes[d] == 1) drop(d);
  }
  for (int32_t d = shape.dims - 1; d-- > 0;) {
    if (!continues(d)) continue;
    shape.sizes[d + 1] *= shape.sizes[d];
    drop(d);
  }
  if (shape.dims == 0) {
    for (RowOperand* operand : operands) operand->strides[0] = 0;
  }
}

bool FitsVectorElements(const RowShape& shape, const RowOperand& x,
                        std::initializer_list<const RowOperand*> operands) {
  if (shape.rows == 0 || shape.width == 0) return true;
  if (shape.dims > 2 || shape.width * DtypeSize(x.dtype) % 16 != 0) return false;
  return std::all_of(operands.begin(), operands.end(), [&](const RowOperand* operand) {
    if (operand->data == nullptr) return true;
    if (operand->inner != 1 || reinterpret_cast<uintptr_t>(operand->data) % 16 != 0) return false;
    return std::all_of(operand->strides, operand->strides + shape.dims, [&](int64_t stride) {
      return stride * DtypeSize(operand->dtype) % 16 == 0;
    });
  });
}

bool FitsVectorRows(const RowShape& shape, const RowOperand& x,
                    std::initializer_list<const RowOperand*> operands) {
  return shape.width * DtypeSize(x.dtype) <= kMaxVectorRowBytes &&
         FitsVectorElements(shape, x, operands);
}

bool FitsCodeRuns(const RowShape& shape, const RowOperand& out, int64_t bytes) {
  if (shape.rows == 0 || shape.width == 0) return true;
  return out.inner == 1 &&
         reinterpret_cast<uintptr_t>(out.data) % static_cast<uintptr_t>(bytes) == 0 &&
         std::all_of(out.strides, out.strides + shape.dims,
                     [&](int64_t stride) { return stride % bytes == 0; });
}

bool FitsE4m3Vectors(const RowShape& shape, const RowOperand& x, const RowOperand& out) {
  return FitsCodeRuns(shape, out, 16 / DtypeSize(x.dtype));
}

}  // namespace reel::kernels
