// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/library_variants.h"
#include "kernels/ltx_rope/ltx_rope_launch.h"
#include "kernels/rows/row_operands.h"

namespace reel::kernels {

bool LtxRopeVectorAccepts(const LtxRopeParams& params) {
  const LtxRopeSide& q = params.side[0];
  const LtxRopeSide& k = params.side[1];
  const auto weight_fits = [&](const RowOperand& weight) {
    return weight.data == nullptr || weight.dtype == q.in.dtype;
  };
  const bool pairs_aligned = reinterpret_cast<uintptr_t>(params.cos_sin) % 8 == 0;
  // Halves of whole vectors, or neighbours by three axes.
  const bool pairs_fit = params.half > 0 ? params.half * DtypeSize(q.in.dtype) % 16 == 0
                                         : params.cos_sin == nullptr || params.axes == 3;
  return pairs_aligned && pairs_fit && params.head_width == params.shape.width &&
         weight_fits(q.weight) && weight_fits(k.weight) &&
         (params.index.data == nullptr || params.index.inner == 1) &&
         FitsVectorRows(
             params.shape, q.in,
             {&q.in, &q.out, &q.weight, &k.in, &k.out, &k.weight, &params.cos, &params.sin});
}

OpVariants LtxRopeCudaVariants() {
  static constexpr KernelVariant kRope[] = {
      Sm90Variant<LaunchLtxRopeSm90, LtxRopeVectorAccepts>(),
      Sm80Variant<LaunchLtxRopeSm80, LtxRopeVectorAccepts>(),
      GenericCudaVariant<LaunchLtxRopeGeneric>(),
  };
  return MakeVariants<LtxRopeParams>("ltx_rope", kRope);
}

OpVariants QkNormRopeCudaVariants() {
  static constexpr KernelVariant kNormRope[] = {
      Sm90Variant<LaunchQkNormRopeSm90, LtxRopeVectorAccepts>(),
      Sm80Variant<LaunchQkNormRopeSm80, LtxRopeVectorAccepts>(),
      GenericCudaVariant<LaunchQkNormRopeGeneric>(),
  };
  return MakeVariants<LtxRopeParams>("qk_norm_rope", kNormRope);
}

}  // namespace reel::kernels
