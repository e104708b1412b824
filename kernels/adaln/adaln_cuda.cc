// SPDX-License-Identifier: Apache-2.0
#include "kernels/adaln/adaln_launch.h"
#include "kernels/cuda/library_variants.h"
#include "kernels/rows/fused_norm_call.h"

namespace reel::kernels {

std::vector<OpVariants> AdalnCudaVariants() {
  return {
      FusedNormHopperVariants<LaunchAdalnRmsNormSm90, LaunchAdalnRmsNormSm80,
                              LaunchAdalnRmsNormGeneric>("adaln_rms_norm"),
      FusedNormHopperVariants<LaunchAdalnLayerNormSm90, LaunchAdalnLayerNormSm80,
                              LaunchAdalnLayerNormGeneric>("adaln_layer_norm"),
      FusedNormHopperVariants<LaunchAdalnZeroSm90, LaunchAdalnZeroSm80, LaunchAdalnZeroGeneric>(
          "adaln_zero"),
  };
}

}  // namespace reel::kernels
