// SPDX-License-Identifier: Apache-2.0
#include "kernels/layer_norm/layer_norm_row.cuh"

namespace reel::kernels {

int32_t LaunchLayerNormGeneric(const FusedNormParams& params, void* stream) {
  return LaunchGenericRows(LayerNormRow{params}, stream);
}

int32_t LaunchLayerNormResidualGeneric(const FusedNormParams& params, void* stream) {
  return LaunchGenericRows(LayerNormResidualRow{params}, stream);
}

}  // namespace reel::kernels
