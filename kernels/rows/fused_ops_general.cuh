// SPDX-License-Identifier: Apache-2.0
// The variant of a fused operator for any call over rows of 16-byte vectors
// (FusedNormVectorAccepts). For .cu files.
#pragma once

#include "kernels/rows/fused_norm_row.cuh"
#include "kernels/rows/fused_ops_launch.h"
#include "kernels/rows/vector_rows.cuh"

namespace reel::kernels {

template <const FusedOp& kOp>
int32_t LaunchFusedGeneralSm80(const FusedNormParams& params, void* stream) {
  return LaunchVectorRows<false>(FusedNormRow<kOp.statistic, kOp.parts>{params}, stream);
}

}  // namespace reel::kernels
