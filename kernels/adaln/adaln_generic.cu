// SPDX-License-Identifier: Apache-2.0
#include "kernels/adaln/adaln_row.cuh"
#include "kernels/rows/generic_e4m3.cuh"

namespace reel::kernels {

int32_t LaunchAdalnRmsNormGeneric(const FusedNormParams& params, void* stream) {
  return LaunchGenericOutput(AdalnRmsNormRow{params}, stream);
}

int32_t LaunchAdalnLayerNormGeneric(const FusedNormParams& params, void* stream) {
  return LaunchGenericRows(AdalnLayerNormRow{params}, stream);
}

int32_t LaunchAdalnZeroGeneric(const FusedNormParams& params, void* stream) {
  return LaunchGenericRows(AdalnZeroRow{params}, stream);
}

}  // namespace reel::kernels
