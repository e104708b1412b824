// SPDX-License-Identifier: Apache-2.0
// The variant of a fused operator that takes every call. For .cu files.
#pragma once

#include "kernels/rows/fused_norm_row.cuh"
#include "kernels/rows/fused_ops_launch.h"
#include "kernels/rows/generic_e4m3.cuh"
#include "kernels/rows/generic_int8.cuh"

namespace reel::kernels {

template <const FusedOp& kOp>
int32_t LaunchFusedGeneric(const FusedNormParams& params, void* stream) {
  const FusedNormRow<kOp.statistic, kOp.parts> op{params};
  if constexpr (kOp.codes) {
    if (params.out.dtype == Dtype::kI8) return LaunchGenericInt8(op, stream);
    return LaunchGenericOutput(op, stream);
  } else {
    return LaunchGenericRows(op, stream);
  }
}

}  // namespace reel::kernels
