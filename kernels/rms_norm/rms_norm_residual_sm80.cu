// SPDX-License-Identifier: Apache-2.0
#include "kernels/rms_norm/rms_norm_residual_row.cuh"
#include "kernels/rows/plain_norm.cuh"

namespace reel::kernels {

int32_t LaunchRmsNormResidualSm80(const FusedNormParams& params, void* stream) {
  return LaunchFusedNorm<RmsNormResidualRow, false>(params, stream);
}

}  // namespace reel::kernels
