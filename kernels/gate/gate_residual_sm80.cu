// SPDX-License-Identifier: Apache-2.0
#include "kernels/gate/gate_residual_row.cuh"

namespace reel::kernels {

int32_t LaunchGateResidualSm80(const FusedNormParams& params, void* stream) {
  return LaunchVectorRows<false>(GateResidualRow{params}, stream);
}

int32_t LaunchGateResidualAdalnSm80(const FusedNormParams& params, void* stream) {
  return LaunchVectorRows<false>(GateResidualAdalnRow{params}, stream);
}

}  // namespace reel::kernels
