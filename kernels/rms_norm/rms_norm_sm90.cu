// SPDX-License-Identifier: Apache-2.0
#include "kernels/rms_norm/rms_norm_vector.cuh"

namespace reel::kernels {

int32_t LaunchRmsNormSm90(const RmsNormParams& params, void* stream) {
  if (params.out.dtype == Dtype::kE4m3) return LaunchRmsNormE4m3Sm90(params, stream);
  return LaunchRmsNormVector<true>(params, stream);
}

}  // namespace reel::kernels
