// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/fused_ops_generic.cuh"

namespace reel::kernels {

template int32_t LaunchFusedGeneric<kGateResidual>(const FusedNormParams&, void*);
template int32_t LaunchFusedGeneric<kGateResidualAdaln>(const FusedNormParams&, void*);

}  // namespace reel::kernels
