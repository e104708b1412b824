// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/library_variants.h"
#include "kernels/head_gate/head_gate_launch.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {

// A vector is of one head; logits may lie anywhere.
bool HeadGateVectorAccepts(const HeadGateParams& params) {
  return params.head_width * DtypeSize(params.x.dtype) % 16 == 0 &&
         FitsVectorElements(params.shape, params.x, {&params.x, &params.out});
}

OpVariants HeadGateCudaVariants() {
  static constexpr KernelVariant kVariants[] = {
      Sm90Variant<LaunchHeadGateSm90, HeadGateVectorAccepts>(),
      Sm80Variant<LaunchHeadGateSm80, HeadGateVectorAccepts>(),
      GenericCudaVariant<LaunchHeadGateGeneric>(),
  };
  return MakeVariants<HeadGateParams>("head_gate", kVariants);
}

}  // namespace reel::kernels
