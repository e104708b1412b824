// SPDX-License-Identifier: Apache-2.0
#include "kernels/activation/activation_launch.h"
#include "kernels/cuda/library_variants.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {

namespace {

// A block holds a row in registers: of gelu_tanh alone, which is what comes before an 8-bit
// product.
bool AcceptsE4m3(const ActivationParams& p) {
  return p.kind == Activation::kGeluTanh && IsModerateScale(p.out_scale) &&
         p.shape.width * DtypeSize(p.x.dtype) <= kMaxActivationE4m3Bytes &&
         FitsVectorElements(p.shape, p.x, {&p.x, &p.bias}) && FitsE4m3Vectors(p.shape, p.x, p.out);
}

}  // namespace

bool ActivationVectorAccepts(const ActivationParams& params) {
  if (params.out.dtype == Dtype::kE4m3) return AcceptsE4m3(params);
  // Vectors of a row are counted in 32 bits.
  return params.shape.width < (int64_t{1} << 31) &&
         FitsVectorElements(params.shape, params.x,
                            {&params.x, &params.bias, &params.value, &params.out});
}

std::vector<OpVariants> ActivationCudaVariants() {
  static constexpr KernelVariant kVariants[] = {
      Sm80Variant<LaunchActivationSm80, ActivationVectorAccepts>(),
      GenericCudaVariant<LaunchActivationGeneric>(),
  };
  return {MakeVariants<ActivationParams>("activation", kVariants),
          MakeVariants<ActivationParams>("gated_activation", kVariants)};
}

}  // namespace reel::kernels
