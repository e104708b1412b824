// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of every fused operator.
#include "kernels/cuda/library_variants.h"
#include "kernels/rows/fused_norm.h"
#include "kernels/rows/fused_ops_launch.h"

namespace reel::kernels {
namespace {

template <const FusedOp& kOp, auto kFits>
bool PlainAccepts(const FusedNormParams& params) {
  return kFits(params) && IsPlainCall(kOp, params);
}

// Best first; each predicate says which calls its kernel takes.
template <const FusedOp& kOp>
OpVariants CudaVariantsOf() {
  static constexpr KernelVariant kGeneral =
      Sm80Variant<LaunchFusedGeneralSm80<kOp>, FusedNormVectorAccepts>(kAnyFloating, kGeneralSm80);
  static constexpr KernelVariant kPlain =
      Sm80Variant<LaunchFusedSm80<kOp>, PlainAccepts<kOp, FusedNormVectorAccepts>>();
  static constexpr KernelVariant kGeneric = GenericCudaVariant<LaunchFusedGeneric<kOp>>();
  if constexpr (!kOp.sm90) {
    static constexpr KernelVariant kVariants[] = {kPlain, kGeneral, kGeneric};
    return MakeVariants<FusedNormParams>(kOp.name, kVariants);
  } else if constexpr (!kOp.codes) {
    static constexpr KernelVariant kVariants[] = {
        Sm90Variant<LaunchFusedSm90<kOp>, PlainAccepts<kOp, FusedNormVectorAccepts>>(), kPlain,
        kGeneral, kGeneric};
    return MakeVariants<FusedNormParams>(kOp.name, kVariants);
  } else {
    static constexpr KernelVariant kVariants[] = {
        Sm90Variant<LaunchFusedSm90<kOp>, PlainAccepts<kOp, FusedNormVectorAccepts>>(),
        Sm90Variant<LaunchFusedE4m3Sm90<kOp>, PlainAccepts<kOp, FusedNormE4m3Accepts>>(kAnyFloating,
                                                                                       kE4m3Sm90),
        Sm90Variant<LaunchFusedInt8Sm90<kOp>, PlainAccepts<kOp, FusedNormInt8Accepts>>(kSixteenBit,
                                                                                       kInt8Sm90),
        kPlain,
        Sm80Variant<LaunchFusedE4m3Sm80<kOp>, PlainAccepts<kOp, FusedNormE4m3Accepts>>(kAnyFloating,
                                                                                       kE4m3Sm80),
        kGeneral,
        kGeneric};
    return MakeVariants<FusedNormParams>(kOp.name, kVariants);
  }
}

}  // namespace

#define REEL_FUSED_OPERATOR(op, name, ...) \
  OpVariants name##CudaVariants() { return CudaVariantsOf<k##name>(); }
#include "kernels/operators.def"
#undef REEL_FUSED_OPERATOR

}  // namespace reel::kernels
