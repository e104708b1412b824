// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/library_variants.h"
#include "kernels/quantize_rows/quantize_rows_launch.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {

bool QuantizeRowsVectorAccepts(const QuantizeRowsParams& p) {
  return FitsVectorRows(p.shape, p.x, {&p.x}) && FitsE4m3Vectors(p.shape, p.x, p.out);
}

OpVariants QuantizeRowsCudaVariants() {
  static constexpr KernelVariant kVariants[] = {
      Sm80Variant<LaunchQuantizeRowsSm80, QuantizeRowsVectorAccepts>(),
      GenericCudaVariant<LaunchQuantizeRowsGeneric>(),
  };
  return MakeVariants<QuantizeRowsParams>("quantize_rows", kVariants);
}

}  // namespace reel::kernels
