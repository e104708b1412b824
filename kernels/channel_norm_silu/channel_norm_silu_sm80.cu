// SPDX-License-Identifier: Apache-2.0
#include "kernels/channel_norm_silu/channel_norm_silu_row.cuh"

namespace reel::kernels {

int32_t LaunchChannelNormSiluSm80(const ChannelNormSiluParams& params, void* stream) {
  return LaunchVectorRows<false>(ChannelNormSiluRow{params}, stream);
}

}  // namespace reel::kernels
