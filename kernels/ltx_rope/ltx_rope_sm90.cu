// SPDX-License-Identifier: Apache-2.0
#include "kernels/ltx_rope/ltx_rope_row.cuh"

namespace reel::kernels {

int32_t LaunchLtxRopeSm90(const LtxRopeParams& params, void* stream) {
  return LaunchVectorRows<true>(LtxRopeAlone(params), stream);
}

int32_t LaunchQkNormRopeSm90(const LtxRopeParams& params, void* stream) {
  return LaunchVectorRows<true>(QkNormRopeRow(params), stream);
}

}  // namespace reel::kernels
