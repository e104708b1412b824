// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/library_rows.h"
#include "kernels/quantize_rows/quantize_rows_launch.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {

bool QuantizeRowsVectorAccepts(const QuantizeRowsParams& p) {
  return FitsVectorRows(p.shape, p.x, {&p.x}) && FitsE4m3Vectors(p.shape, p.x, p.out);
}

std::vector<OpRows> QuantizeRowsCudaRows() {
  static constexpr KernelRow kRows[] = {
      Sm80Row<LaunchQuantizeRowsSm80, QuantizeRowsVectorAccepts>(),
      GenericCudaRow<LaunchQuantizeRowsGeneric>(),
  };
  return {RowsOf<QuantizeRowsParams>("quantize_rows", kRows)};
}

}  // namespace reel::kernels
