// SPDX-License-Identifier: Apache-2.0
// Variants of a fused operator for plain calls with an e4m3 output. Separate files keep compile
// times short. For .cu files.
#pragma once

#include "kernels/rows/fused_ops_plain.cuh"

namespace reel::kernels {

template <const FusedOp& kOp>
int32_t LaunchFusedE4m3Sm80(const FusedNormParams& params, void* stream) {
  return LaunchPlainCall<kOp, kE4m3, false>(params, stream);
}

template <const FusedOp& kOp>
int32_t LaunchFusedE4m3Sm90(const FusedNormParams& params, void* stream) {
  return LaunchPlainCall<kOp, kE4m3, true>(params, stream);
}

}  // namespace reel::kernels
