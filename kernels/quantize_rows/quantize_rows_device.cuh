// SPDX-License-Identifier: Apache-2.0
// Shared by the two CUDA kernels of quantize_rows. Bound by memory: x is read once, a byte an
// element written.
#pragma once

#include "kernels/quantize_rows/quantize_rows_launch.h"
#include "kernels/rows/e4m3_device.cuh"

namespace reel::kernels {

__device__ inline uint8_t* OutAt(const QuantizeRowsParams& p, const RowPlace& place) {
  return static_cast<uint8_t*>(p.out.data) + OffsetAt(p.shape, p.out, place);
}
__device__ inline void StoreScale(const QuantizeRowsParams& p, const RowPlace& place,
                                  const RowScale& scale) {
  if (p.static_scale != nullptr) return;
  static_cast<float*>(p.scale.data)[OffsetAt(p.shape, p.scale, place)] = scale.scale;
}

}  // namespace reel::kernels
