// SPDX-License-Identifier: Apache-2.0
#include "kernels/adaln/adaln_launch.h"
#include "kernels/cuda/library_rows.h"
#include "kernels/rows/fused_norm_call.h"

namespace reel::kernels {

std::vector<OpRows> AdalnCudaRows() {
  return {
      FusedNormHopperRows<LaunchAdalnRmsNormSm90, LaunchAdalnRmsNormSm80,
                          LaunchAdalnRmsNormGeneric>("adaln_rms_norm"),
      FusedNormHopperRows<LaunchAdalnLayerNormSm90, LaunchAdalnLayerNormSm80,
                          LaunchAdalnLayerNormGeneric>("adaln_layer_norm"),
      FusedNormHopperRows<LaunchAdalnZeroSm90, LaunchAdalnZeroSm80, LaunchAdalnZeroGeneric>(
          "adaln_zero"),
  };
}

}  // namespace reel::kernels
