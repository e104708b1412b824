// SPDX-License-Identifier: Apache-2.0
#include "kernels/adaln/adaln_row.cuh"
#include "kernels/rows/plain_norm.cuh"

namespace reel::kernels {

int32_t LaunchAdalnRmsNormSm80(const FusedNormParams& params, void* stream) {
  if (params.out.dtype == Dtype::kE4m3) return LaunchAdalnRmsNormE4m3Sm80(params, stream);
  return LaunchFusedNorm<AdalnRmsNormRow, false>(params, stream);
}

int32_t LaunchAdalnLayerNormSm80(const FusedNormParams& params, void* stream) {
  return LaunchFusedNorm<AdalnLayerNormRow, false>(params, stream);
}

int32_t LaunchAdalnZeroSm80(const FusedNormParams& params, void* stream) {
  return LaunchFusedNorm<AdalnZeroRow, false>(params, stream);
}

}  // namespace reel::kernels
