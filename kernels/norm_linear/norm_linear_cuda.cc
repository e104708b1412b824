// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/library_variants.h"
#include "kernels/norm_linear/norm_linear_launch.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {

// The rows of x and of W' consist of pieces of 16 bytes; outputs may have any layout.
bool NormLinearSm80Accepts(const NormLinearParams& params) {
  if (params.shape.rows == 0 || params.outputs == 0) return true;
  if (params.shape.width == 0) return false;
  const RowShape outputs{.rows = params.outputs, .width = params.shape.width, .dims = 1};
  return FitsVectorElements(params.shape, params.x, {&params.x}) &&
         FitsVectorElements(outputs, params.weight, {&params.weight});
}

OpVariants NormLinearCudaVariants() {
  static constexpr KernelVariant kVariants[] = {
      Sm80Variant<LaunchNormLinearSm80, NormLinearSm80Accepts>(kSixteenBit),
      GenericCudaVariant<LaunchNormLinearGeneric>(),
  };
  return MakeVariants<NormLinearParams>("norm_linear", kVariants);
}

OpVariants PrepareNormLinearCudaVariants() {
  static constexpr KernelVariant kPrepareVariants[] = {
      GenericCudaVariant<LaunchPrepareNormLinearGeneric>()};
  return MakeVariants<PrepareNormLinearParams>("prepare_norm_linear", kPrepareVariants);
}

}  // namespace reel::kernels
