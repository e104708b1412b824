// SPDX-License-Identifier: Apache-2.0
#include "kernels/rms_norm/rms_norm_row.cuh"
#include "kernels/rows/generic_e4m3.cuh"

namespace reel::kernels {

int32_t LaunchRmsNormGeneric(const RmsNormParams& params, void* stream) {
  return LaunchGenericOutput(RmsNormRow{params}, stream);
}

}  // namespace reel::kernels
