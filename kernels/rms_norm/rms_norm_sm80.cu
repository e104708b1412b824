// SPDX-License-Identifier: Apache-2.0
#include "kernels/rms_norm/rms_norm_row.cuh"

namespace reel::kernels {

int32_t LaunchRmsNormSm80(const RmsNormParams& params, void* stream) {
  return LaunchVectorRows<false>(RmsNormRow{params}, stream);
}

}  // namespace reel::kernels
