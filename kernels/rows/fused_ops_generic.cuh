// SPDX-License-Identifier: Apache-2.0
// The variant of a fused operator that takes every call. For .cu files.
#pragma once

#include "kernels/rows/fused_norm_row.cuh"
#include "kernels/rows/fused_ops_launch.h"
#include "kernels/rows/generic_e4m3.cuh"

namespace reel::kernels {

template <const FusedOp& kOp>
int32_t LaunchFusedGeneric(const FusedNormParams& params, void* stream) {
  const FusedNormRow<kOp.statistic, kOp.parts> op{params};
  if constexpr (kOp.e4m3) {
    return LaunchGenericOutput(op, stream);
  } else {
    return LaunchGenericRows(op, stream);
  }
}

}  // namespace reel::kernels
