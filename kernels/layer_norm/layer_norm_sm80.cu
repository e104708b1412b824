// SPDX-License-Identifier: Apache-2.0
#include "kernels/layer_norm/layer_norm_row.cuh"
#include "kernels/rows/plain_norm.cuh"

namespace reel::kernels {

int32_t LaunchLayerNormSm80(const FusedNormParams& params, void* stream) {
  return LaunchFusedNorm<LayerNormRow, false>(params, stream);
}

int32_t LaunchLayerNormResidualSm80(const FusedNormParams& params, void* stream) {
  return LaunchFusedNorm<LayerNormResidualRow, false>(params, stream);
}

}  // namespace reel::kernels
