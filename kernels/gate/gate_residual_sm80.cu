// SPDX-License-Identifier: Apache-2.0
#include "kernels/gate/gate_residual_row.cuh"
#include "kernels/rows/plain_norm.cuh"

namespace reel::kernels {

int32_t LaunchGateResidualSm80(const FusedNormParams& params, void* stream) {
  return LaunchFusedNorm<GateResidualRow, false>(params, stream);
}

int32_t LaunchGateResidualAdalnSm80(const FusedNormParams& params, void* stream) {
  if (params.out.dtype == Dtype::kE4m3) return LaunchGateResidualAdalnE4m3Sm80(params, stream);
  return LaunchFusedNorm<GateResidualAdalnRow, false>(params, stream);
}

}  // namespace reel::kernels
