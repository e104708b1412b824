// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/fused_ops_plain.cuh"

namespace reel::kernels {

template int32_t LaunchFusedSm80<kAdalnRmsNorm>(const FusedNormParams&, void*);
template int32_t LaunchFusedSm80<kAdalnLayerNorm>(const FusedNormParams&, void*);
template int32_t LaunchFusedSm80<kAdalnZero>(const FusedNormParams&, void*);

}  // namespace reel::kernels
