// SPDX-License-Identifier: Apache-2.0
// The variant of a fused operator for plain calls with an int8 output. For .cu files.
#pragma once

#include "kernels/rows/fused_ops_plain.cuh"

namespace reel::kernels {

template <const FusedOp& kOp>
int32_t LaunchFusedInt8Sm90(const FusedNormParams& params, void* stream) {
  return LaunchPlainCall<kOp, kInt8, true>(params, stream);
}

}  // namespace reel::kernels
