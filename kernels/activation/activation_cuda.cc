// SPDX-License-Identifier: Apache-2.0
#include "kernels/activation/activation_launch.h"
#include "kernels/cuda/library_variants.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {

bool ActivationVectorAccepts(const ActivationParams& params) {
  // A row's vectors are counted in 32 bits.
  return params.out.dtype != Dtype::kE4m3 && params.kind != Activation::kFatRelu &&
         params.shape.width < (int64_t{1} << 31) &&
         FitsVectorElements(params.shape, params.x,
                            {&params.x, &params.bias, &params.value, &params.out});
}

// A block holds a row in registers. Only gelu_tanh, which precedes an 8-bit product.
bool ActivationE4m3Accepts(const ActivationParams& p) {
  return p.out.dtype == Dtype::kE4m3 && p.kind == Activation::kGeluTanh &&
         IsModerateScale(p.out_scale) &&
         p.shape.width * DtypeSize(p.x.dtype) <= kMaxActivationE4m3Bytes &&
         FitsVectorElements(p.shape, p.x, {&p.x, &p.bias}) && FitsE4m3Vectors(p.shape, p.x, p.out);
}

OpVariants ActivationCudaVariants() {
  static constexpr KernelVariant kActivation[] = {
      Sm80Variant<LaunchActivationSm80, ActivationVectorAccepts>(),
      Sm80Variant<LaunchActivationE4m3Sm80, ActivationE4m3Accepts>(kAnyFloating, kE4m3Sm80),
      GenericCudaVariant<LaunchActivationGeneric>(),
  };
  return MakeVariants<ActivationParams>("activation", kActivation);
}

OpVariants GatedActivationCudaVariants() {
  static constexpr KernelVariant kGatedActivation[] = {
      Sm80Variant<LaunchActivationSm80, ActivationVectorAccepts>(),
      GenericCudaVariant<LaunchActivationGeneric>(),
  };
  return MakeVariants<ActivationParams>("gated_activation", kGatedActivation);
}

}  // namespace reel::kernels
