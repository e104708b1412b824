// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of gate_residual, gate_residual_adaln. Included by nvcc too.
#pragma once

#include "kernels/rows/fused_norm.h"

namespace reel::kernels {

int32_t LaunchGateResidualGeneric(const FusedNormParams& params, void* stream);
int32_t LaunchGateResidualSm80(const FusedNormParams& params, void* stream);
int32_t LaunchGateResidualSm90(const FusedNormParams& params, void* stream);
int32_t LaunchGateResidualAdalnGeneric(const FusedNormParams& params, void* stream);
int32_t LaunchGateResidualAdalnSm80(const FusedNormParams& params, void* stream);
int32_t LaunchGateResidualAdalnSm90(const FusedNormParams& params, void* stream);
// Of calls whose out is e4m3; the two above hand them on.
int32_t LaunchGateResidualAdalnE4m3Sm80(const FusedNormParams& params, void* stream);
int32_t LaunchGateResidualAdalnE4m3Sm90(const FusedNormParams& params, void* stream);

}  // namespace reel::kernels
