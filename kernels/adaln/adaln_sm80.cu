// SPDX-License-Identifier: Apache-2.0
#include "kernels/adaln/adaln_row.cuh"

namespace reel::kernels {

int32_t LaunchAdalnRmsNormSm80(const FusedNormParams& params, void* stream) {
  return LaunchVectorRows<false>(AdalnRmsNormRow{params}, stream);
}

int32_t LaunchAdalnLayerNormSm80(const FusedNormParams& params, void* stream) {
  return LaunchVectorRows<false>(AdalnLayerNormRow{params}, stream);
}

int32_t LaunchAdalnZeroSm80(const FusedNormParams& params, void* stream) {
  return LaunchVectorRows<false>(AdalnZeroRow{params}, stream);
}

}  // namespace reel::kernels
