// SPDX-License-Identifier: Apache-2.0
#include "kernels/ltx_rope/ltx_rope_vector.cuh"

namespace reel::kernels {

int32_t LaunchLtxRopeSm90(const LtxRopeParams& params, void* stream) {
  return LaunchLtxRopeVector<false, true>(params, stream);
}

int32_t LaunchQkNormRopeSm90(const LtxRopeParams& params, void* stream) {
  return LaunchLtxRopeVector<true, true>(params, stream);
}

}  // namespace reel::kernels
