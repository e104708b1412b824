// SPDX-License-Identifier: Apache-2.0
#include "kernels/activation/activation_row.cuh"

namespace reel::kernels {

int32_t LaunchActivationGeneric(const ActivationParams& params, void* stream) {
  return LaunchGenericRows(ActivationRow{params}, stream);
}

}  // namespace reel::kernels
