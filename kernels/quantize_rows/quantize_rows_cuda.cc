// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/cuda/library_rows.h"
#include "kernels/quantize_rows/quantize_rows_launch.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {

// A vector of x becomes 8 bytes, 4 of fp32.
bool QuantizeRowsVectorAccepts(const QuantizeRowsParams& p) {
  if (!FitsVectorRows(p.shape, p.x, {&p.x})) return false;
  if (p.shape.rows == 0 || p.shape.width == 0) return true;
  const int64_t bytes = 16 / DtypeSize(p.x.dtype);
  return p.out.inner == 1 &&
         reinterpret_cast<uintptr_t>(p.out.data) % static_cast<uintptr_t>(bytes) == 0 &&
         std::all_of(p.out.strides, p.out.strides + p.shape.dims,
                     [&](int64_t stride) { return stride % bytes == 0; });
}

std::vector<OpRows> QuantizeRowsCudaRows() {
  static constexpr KernelRow kRows[] = {
      Sm80Row<LaunchQuantizeRowsSm80, QuantizeRowsVectorAccepts>(),
      GenericCudaRow<LaunchQuantizeRowsGeneric>(),
  };
  return {RowsOf<QuantizeRowsParams>("quantize_rows", kRows)};
}

}  // namespace reel::kernels
