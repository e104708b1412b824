// SPDX-License-Identifier: Apache-2.0
#include "kernels/adaln/adaln_launch.h"
#include "kernels/rows/plain_norm.cuh"

namespace reel::kernels {

int32_t LaunchAdalnRmsNormE4m3Sm80(const FusedNormParams& params, void* stream) {
  return LaunchPlainNorm<Statistic::kMeanSquare, kAdalnE4m3, false>(params, stream);
}

}  // namespace reel::kernels
