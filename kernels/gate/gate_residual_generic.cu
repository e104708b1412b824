// SPDX-License-Identifier: Apache-2.0
#include "kernels/gate/gate_residual_row.cuh"

namespace reel::kernels {

int32_t LaunchGateResidualGeneric(const FusedNormParams& params, void* stream) {
  return LaunchGenericRows(GateResidualRow{params}, stream);
}

int32_t LaunchGateResidualAdalnGeneric(const FusedNormParams& params, void* stream) {
  return LaunchGenericRows(GateResidualAdalnRow{params}, stream);
}

}  // namespace reel::kernels
