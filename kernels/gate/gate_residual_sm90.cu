// SPDX-License-Identifier: Apache-2.0
#include "kernels/gate/gate_residual_row.cuh"
#include "kernels/rows/plain_norm.cuh"

namespace reel::kernels {

int32_t LaunchGateResidualSm90(const FusedNormParams& params, void* stream) {
  return LaunchFusedNorm<GateResidualRow, true>(params, stream);
}

int32_t LaunchGateResidualAdalnSm90(const FusedNormParams& params, void* stream) {
  if (params.out.dtype == Dtype::kE4m3) return LaunchGateResidualAdalnE4m3Sm90(params, stream);
  return LaunchFusedNorm<GateResidualAdalnRow, true>(params, stream);
}

}  // namespace reel::kernels
