// SPDX-License-Identifier: Apache-2.0
#include "kernels/gate/gate_residual_launch.h"
#include "kernels/rows/plain_norm.cuh"

namespace reel::kernels {

int32_t LaunchGateResidualAdalnE4m3Sm80(const FusedNormParams& params, void* stream) {
  return LaunchPlainNorm<Statistic::kMeanSquare, kGateAdalnE4m3, false>(params, stream);
}

}  // namespace reel::kernels
