// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/library_variants.h"
#include "kernels/layer_norm/layer_norm_launch.h"
#include "kernels/rows/fused_norm_call.h"

namespace reel::kernels {

std::vector<OpVariants> LayerNormCudaVariants() {
  return {
      FusedNormCudaVariants<LaunchLayerNormSm80, LaunchLayerNormGeneric>("layer_norm"),
      FusedNormCudaVariants<LaunchLayerNormResidualSm80, LaunchLayerNormResidualGeneric>(
          "layer_norm_residual"),
  };
}

}  // namespace reel::kernels
