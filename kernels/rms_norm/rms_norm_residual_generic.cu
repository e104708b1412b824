// SPDX-License-Identifier: Apache-2.0
#include "kernels/rms_norm/rms_norm_residual_row.cuh"

namespace reel::kernels {

int32_t LaunchRmsNormResidualGeneric(const FusedNormParams& params, void* stream) {
  return LaunchGenericRows(RmsNormResidualRow{params}, stream);
}

}  // namespace reel::kernels
