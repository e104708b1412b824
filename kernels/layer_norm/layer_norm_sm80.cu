// SPDX-License-Identifier: Apache-2.0
#include "kernels/layer_norm/layer_norm_row.cuh"

namespace reel::kernels {

int32_t LaunchLayerNormSm80(const FusedNormParams& params, void* stream) {
  return LaunchVectorRows<false>(LayerNormRow{params}, stream);
}

int32_t LaunchLayerNormResidualSm80(const FusedNormParams& params, void* stream) {
  return LaunchVectorRows<false>(LayerNormResidualRow{params}, stream);
}

}  // namespace reel::kernels
