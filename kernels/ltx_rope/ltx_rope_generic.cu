// SPDX-License-Identifier: Apache-2.0
#include "kernels/ltx_rope/ltx_rope_row.cuh"

namespace reel::kernels {

int32_t LaunchLtxRopeGeneric(const LtxRopeParams& params, void* stream) {
  return LaunchGenericRows(LtxRopeAlone(params), stream);
}

int32_t LaunchQkNormRopeGeneric(const LtxRopeParams& params, void* stream) {
  return LaunchGenericRows(QkNormRopeRow(params), stream);
}

}  // namespace reel::kernels
