// SPDX-License-Identifier: Apache-2.0
#include "kernels/int8_rows/int8_rows_vector.cuh"

namespace reel::kernels {

int32_t LaunchInt8RowsSm90(const Int8RowsParams& params, void* stream) {
  return LaunchInt8RowsVector<true>(params, stream);
}

}  // namespace reel::kernels
