// SPDX-License-Identifier: Apache-2.0
#include "kernels/rms_norm/rms_norm_row.cuh"
#include "kernels/rows/vector_rows.cuh"

namespace reel::kernels {

int32_t LaunchRmsNormGeneralSm80(const RmsNormParams& params, void* stream) {
  return LaunchVectorRows<false>(RmsNormRow{params}, stream);
}

}  // namespace reel::kernels
