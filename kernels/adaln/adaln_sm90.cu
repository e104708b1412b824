// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/fused_ops_plain.cuh"

namespace reel::kernels {

template int32_t LaunchFusedSm90<kAdalnRmsNorm>(const FusedNormParams&, void*);
template int32_t LaunchFusedSm90<kAdalnLayerNorm>(const FusedNormParams&, void*);
template int32_t LaunchFusedSm90<kAdalnZero>(const FusedNormParams&, void*);

}  // namespace reel::kernels
