// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/library_rows.h"
#include "kernels/layer_norm/layer_norm_launch.h"
#include "kernels/rows/fused_norm_call.h"

namespace reel::kernels {

std::vector<OpRows> LayerNormCudaRows() {
  return {
      FusedNormCudaRows<LaunchLayerNormSm80, LaunchLayerNormGeneric>("layer_norm"),
      FusedNormCudaRows<LaunchLayerNormResidualSm80, LaunchLayerNormResidualGeneric>(
          "layer_norm_residual"),
  };
}

}  // namespace reel::kernels
