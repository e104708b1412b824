// SPDX-License-Identifier: Apache-2.0
#include "kernels/gate/gate_residual_row.cuh"
#include "kernels/rows/generic_e4m3.cuh"

namespace reel::kernels {

int32_t LaunchGateResidualGeneric(const FusedNormParams& params, void* stream) {
  return LaunchGenericRows(GateResidualRow{params}, stream);
}

int32_t LaunchGateResidualAdalnGeneric(const FusedNormParams& params, void* stream) {
  return LaunchGenericOutput(GateResidualAdalnRow{params}, stream);
}

}  // namespace reel::kernels
