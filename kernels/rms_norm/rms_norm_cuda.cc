// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/library_variants.h"
#include "kernels/rms_norm/rms_norm_launch.h"
#include "kernels/rows/fused_norm.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {

bool RmsNormVectorAccepts(const RmsNormParams& params) {
  if (params.out.dtype == Dtype::kE4m3) {
    return IsFused(params) && FusedNormVectorAccepts(FusedOf(params));
  }
  return FitsVectorRows(params.shape, params.x,
                        {&params.x, &params.weight, &params.bias, &params.out});
}

std::vector<OpVariants> RmsNormCudaVariants() {
  static constexpr KernelVariant kVariants[] = {
      Sm90Variant<LaunchRmsNormSm90, RmsNormVectorAccepts>(),
      Sm80Variant<LaunchRmsNormSm80, RmsNormVectorAccepts>(),
      GenericCudaVariant<LaunchRmsNormGeneric>(),
  };
  return {MakeVariants<RmsNormParams>("rms_norm", kVariants)};
}

}  // namespace reel::kernels
