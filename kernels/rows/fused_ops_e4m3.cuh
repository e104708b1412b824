// SPDX-License-Identifier: Apache-2.0
// The same with an e4m3 output, of calls that are plain (HasPlainE4m3Parts): in files of their own,
// so that none takes long to compile. For .cu files.
#pragma once

#include "kernels/rows/fused_ops_launch.h"
#include "kernels/rows/plain_norm.cuh"

namespace reel::kernels {

template <const FusedOp& kOp>
inline constexpr unsigned kPlainE4m3Of = (kOp.parts & ~kAffine) | kE4m3;

template <const FusedOp& kOp>
int32_t LaunchFusedE4m3Sm80(const FusedNormParams& params, void* stream) {
  return LaunchPlainNorm<kOp.statistic, kPlainE4m3Of<kOp>, false>(params, stream);
}

template <const FusedOp& kOp>
int32_t LaunchFusedE4m3Sm90(const FusedNormParams& params, void* stream) {
  return LaunchPlainNorm<kOp.statistic, kPlainE4m3Of<kOp>, true>(params, stream);
}

}  // namespace reel::kernels
