// SPDX-License-Identifier: Apache-2.0
#include "kernels/channel_norm_silu/channel_norm_silu_row.cuh"

namespace reel::kernels {

int32_t LaunchChannelNormSiluGeneric(const ChannelNormSiluParams& params, void* stream) {
  return LaunchGenericRows(ChannelNormSiluRow{params}, stream);
}

}  // namespace reel::kernels
