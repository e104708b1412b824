// SPDX-License-Identifier: Apache-2.0
#include "kernels/activation/activation_row.cuh"
#include "kernels/rows/generic_e4m3.cuh"

namespace reel::kernels {

int32_t LaunchActivationGeneric(const ActivationParams& params, void* stream) {
  return LaunchGenericOutput(ActivationRow{params}, stream);
}

}  // namespace reel::kernels
