// SPDX-License-Identifier: Apache-2.0
#include "kernels/rms_norm/rms_norm_residual_row.cuh"

namespace reel::kernels {

int32_t LaunchRmsNormResidualSm90(const FusedNormParams& params, void* stream) {
  return LaunchVectorRows<true>(RmsNormResidualRow{params}, stream);
}

}  // namespace reel::kernels
