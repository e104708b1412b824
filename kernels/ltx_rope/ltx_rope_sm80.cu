// SPDX-License-Identifier: Apache-2.0
#include "kernels/ltx_rope/ltx_rope_row.cuh"

namespace reel::kernels {

int32_t LaunchLtxRopeSm80(const LtxRopeParams& params, void* stream) {
  return LaunchVectorRows<false>(LtxRopeAlone(params), stream);
}

int32_t LaunchQkNormRopeSm80(const LtxRopeParams& params, void* stream) {
  return LaunchVectorRows<false>(QkNormRopeRow(params), stream);
}

}  // namespace reel::kernels
