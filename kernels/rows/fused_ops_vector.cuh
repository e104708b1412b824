// SPDX-License-Identifier: Apache-2.0
// The variants of a fused operator for rows of 16-byte vectors (FusedNormVectorAccepts). For .cu
// files.
#pragma once

#include "kernels/rows/fused_norm_row.cuh"
#include "kernels/rows/fused_ops_launch.h"
#include "kernels/rows/plain_norm.cuh"

namespace reel::kernels {

template <const FusedOp& kOp>
int32_t LaunchFusedSm80(const FusedNormParams& params, void* stream) {
  if constexpr (kOp.e4m3) {
    if (params.out.dtype == Dtype::kE4m3) return LaunchFusedE4m3Sm80<kOp>(params, stream);
  }
  return LaunchFusedNorm<FusedNormRow<kOp.statistic, kOp.parts>, false>(params, stream);
}

template <const FusedOp& kOp>
int32_t LaunchFusedSm90(const FusedNormParams& params, void* stream) {
  if constexpr (kOp.e4m3) {
    if (params.out.dtype == Dtype::kE4m3) return LaunchFusedE4m3Sm90<kOp>(params, stream);
  }
  return LaunchFusedNorm<FusedNormRow<kOp.statistic, kOp.parts>, true>(params, stream);
}

}  // namespace reel::kernels
