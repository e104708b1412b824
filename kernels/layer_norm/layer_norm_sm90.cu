// SPDX-License-Identifier: Apache-2.0
#include "kernels/layer_norm/layer_norm_row.cuh"

namespace reel::kernels {

int32_t LaunchLayerNormSm90(const FusedNormParams& params, void* stream) {
  return LaunchVectorRows<true>(LayerNormRow{params}, stream);
}

int32_t LaunchLayerNormResidualSm90(const FusedNormParams& params, void* stream) {
  return LaunchVectorRows<true>(LayerNormResidualRow{params}, stream);
}

}  // namespace reel::kernels
