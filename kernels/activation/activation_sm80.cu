// SPDX-License-Identifier: Apache-2.0
#include "kernels/activation/activation_row.cuh"

namespace reel::kernels {

int32_t LaunchActivationSm80(const ActivationParams& params, void* stream) {
  return LaunchVectorRows<false>(ActivationRow{params}, stream);
}

}  // namespace reel::kernels
