// SPDX-License-Identifier: Apache-2.0
#include "kernels/ltx_rope/ltx_rope_vector.cuh"

namespace reel::kernels {

int32_t LaunchLtxRopeSm80(const LtxRopeParams& params, void* stream) {
  return LaunchLtxRopeVector<false, false>(params, stream);
}

int32_t LaunchQkNormRopeSm80(const LtxRopeParams& params, void* stream) {
  return LaunchLtxRopeVector<true, false>(params, stream);
}

}  // namespace reel::kernels
