// SPDX-License-Identifier: Apache-2.0
#include "kernels/rms_norm/rms_norm_vector.cuh"

namespace reel::kernels {

int32_t LaunchRmsNormSm80(const RmsNormParams& params, void* stream) {
  if (params.out.dtype == Dtype::kE4m3) return LaunchRmsNormE4m3Sm80(params, stream);
  return LaunchRmsNormVector<false>(params, stream);
}

}  // namespace reel::kernels
