// SPDX-License-Identifier: Apache-2.0
#include "kernels/adaln/adaln_row.cuh"
#include "kernels/rows/plain_norm.cuh"

namespace reel::kernels {

int32_t LaunchAdalnRmsNormSm90(const FusedNormParams& params, void* stream) {
  if (params.out.dtype == Dtype::kE4m3) return LaunchAdalnRmsNormE4m3Sm90(params, stream);
  return LaunchFusedNorm<AdalnRmsNormRow, true>(params, stream);
}

int32_t LaunchAdalnLayerNormSm90(const FusedNormParams& params, void* stream) {
  return LaunchFusedNorm<AdalnLayerNormRow, true>(params, stream);
}

int32_t LaunchAdalnZeroSm90(const FusedNormParams& params, void* stream) {
  return LaunchFusedNorm<AdalnZeroRow, true>(params, stream);
}

}  // namespace reel::kernels
