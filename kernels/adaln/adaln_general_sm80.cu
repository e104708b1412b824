// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/fused_ops_general.cuh"

namespace reel::kernels {

template int32_t LaunchFusedGeneralSm80<kAdalnRmsNorm>(const FusedNormParams&, void*);
template int32_t LaunchFusedGeneralSm80<kAdalnLayerNorm>(const FusedNormParams&, void*);
template int32_t LaunchFusedGeneralSm80<kAdalnZero>(const FusedNormParams&, void*);

}  // namespace reel::kernels
