// SPDX-License-Identifier: Apache-2.0
#include "kernels/gate/gate_residual_row.cuh"

namespace reel::kernels {

int32_t LaunchGateResidualSm90(const FusedNormParams& params, void* stream) {
  return LaunchVectorRows<true>(GateResidualRow{params}, stream);
}

int32_t LaunchGateResidualAdalnSm90(const FusedNormParams& params, void* stream) {
  return LaunchVectorRows<true>(GateResidualAdalnRow{params}, stream);
}

}  // namespace reel::kernels
