// SPDX-License-Identifier: Apache-2.0
#include "kernels/rms_norm/rms_norm_plain.cuh"

namespace reel::kernels {

int32_t LaunchRmsNormE4m3Sm80(const RmsNormParams& params, void* stream) {
  return LaunchPlainRmsNorm<kE4m3, false>(params, stream);
}

}  // namespace reel::kernels
