// SPDX-License-Identifier: Apache-2.0
// The variants of a fused operator for its plain calls (PlainCallsOf). For .cu files.
#pragma once

#include "kernels/rows/fused_ops_launch.h"
#include "kernels/rows/plain_norm.cuh"

namespace reel::kernels {

// Launches the kernel for exactly the call's parts; `kTo` is kE4m3 or kInt8 for such an output.
template <const FusedOp& kOp, unsigned kTo, bool kOverlap, int kAt = 0>
int32_t LaunchPlainCall(const FusedNormParams& params, void* stream) {
  constexpr PlainCalls kCalls = PlainCallsOf(kOp);
  if constexpr (kAt == kCalls.count) {
    return cudaErrorInvalidValue;
  } else {
    constexpr unsigned kParts = kCalls.parts[kAt] | kTo;
    if (HasPlainParts(params, kParts)) {
      return LaunchPlainNorm<kOp.statistic, kParts, kOverlap>(params, stream);
    }
    return LaunchPlainCall<kOp, kTo, kOverlap, kAt + 1>(params, stream);
  }
}

template <const FusedOp& kOp>
int32_t LaunchFusedSm80(const FusedNormParams& params, void* stream) {
  return LaunchPlainCall<kOp, 0, false>(params, stream);
}

template <const FusedOp& kOp>
int32_t LaunchFusedSm90(const FusedNormParams& params, void* stream) {
  return LaunchPlainCall<kOp, 0, true>(params, stream);
}

}  // namespace reel::kernels
