// SPDX-License-Identifier: Apache-2.0
#include "kernels/rms_norm/rms_norm_plain.cuh"

namespace reel::kernels {

int32_t LaunchRmsNormSm80(const RmsNormParams& params, void* stream) {
  return LaunchPlainRmsNorm<0, false>(params, stream);
}

}  // namespace reel::kernels
