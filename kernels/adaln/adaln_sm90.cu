// SPDX-License-Identifier: Apache-2.0
#include "kernels/adaln/adaln_row.cuh"

namespace reel::kernels {

int32_t LaunchAdalnRmsNormSm90(const FusedNormParams& params, void* stream) {
  return LaunchVectorRows<true>(AdalnRmsNormRow{params}, stream);
}

int32_t LaunchAdalnLayerNormSm90(const FusedNormParams& params, void* stream) {
  return LaunchVectorRows<true>(AdalnLayerNormRow{params}, stream);
}

int32_t LaunchAdalnZeroSm90(const FusedNormParams& params, void* stream) {
  return LaunchVectorRows<true>(AdalnZeroRow{params}, stream);
}

}  // namespace reel::kernels
