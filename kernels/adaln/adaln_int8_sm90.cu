// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/fused_ops_int8.cuh"

namespace reel::kernels {

template int32_t LaunchFusedInt8Sm90<kAdalnRmsNorm>(const FusedNormParams&, void*);

}  // namespace reel::kernels
