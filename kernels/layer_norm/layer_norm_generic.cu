// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/fused_ops_generic.cuh"

namespace reel::kernels {

template int32_t LaunchFusedGeneric<kLayerNorm>(const FusedNormParams&, void*);
template int32_t LaunchFusedGeneric<kLayerNormResidual>(const FusedNormParams&, void*);

}  // namespace reel::kernels
