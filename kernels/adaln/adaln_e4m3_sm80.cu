// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/fused_ops_e4m3.cuh"

namespace reel::kernels {

template int32_t LaunchFusedE4m3Sm80<kAdalnRmsNorm>(const FusedNormParams&, void*);

}  // namespace reel::kernels
