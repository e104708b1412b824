// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of every fused operator.
#include <cstddef>
#include <iterator>
#include <utility>

#include "kernels/cuda/library_variants.h"
#include "kernels/rows/fused_norm.h"
#include "kernels/rows/fused_ops_launch.h"

namespace reel::kernels {
namespace {

template <const FusedOp& kOp>
OpVariants CudaVariantsOf() {
  if constexpr (kOp.sm90) {
    static constexpr KernelVariant kVariants[] = {
        Sm90Variant<LaunchFusedSm90<kOp>, FusedNormVectorAccepts>(),
        Sm80Variant<LaunchFusedSm80<kOp>, FusedNormVectorAccepts>(),
        GenericCudaVariant<LaunchFusedGeneric<kOp>>(),
    };
    return MakeVariants<FusedNormParams>(kOp.name, kVariants);
  } else {
    static constexpr KernelVariant kVariants[] = {
        Sm80Variant<LaunchFusedSm80<kOp>, FusedNormVectorAccepts>(),
        GenericCudaVariant<LaunchFusedGeneric<kOp>>(),
    };
    return MakeVariants<FusedNormParams>(kOp.name, kVariants);
  }
}

template <size_t... kAt>
std::vector<OpVariants> CudaVariantsOfAll(std::index_sequence<kAt...>) {
  return {CudaVariantsOf<*kFusedOps[kAt]>()...};
}

}  // namespace

std::vector<OpVariants> FusedCudaVariants() {
  return CudaVariantsOfAll(std::make_index_sequence<std::size(kFusedOps)>());
}

}  // namespace reel::kernels
