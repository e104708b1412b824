// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/library_variants.h"
#include "kernels/gate/gate_residual_launch.h"
#include "kernels/rows/fused_norm_call.h"

namespace reel::kernels {

std::vector<OpVariants> GateCudaVariants() {
  return {
      FusedNormHopperVariants<LaunchGateResidualSm90, LaunchGateResidualSm80,
                              LaunchGateResidualGeneric>("gate_residual"),
      FusedNormHopperVariants<LaunchGateResidualAdalnSm90, LaunchGateResidualAdalnSm80,
                              LaunchGateResidualAdalnGeneric>("gate_residual_adaln"),
  };
}

}  // namespace reel::kernels
