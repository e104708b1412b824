// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of rms_norm_residual. Included by nvcc too.
#pragma once

#include "kernels/rows/fused_norm.h"

namespace reel::kernels {

int32_t LaunchRmsNormResidualGeneric(const FusedNormParams& params, void* stream);
int32_t LaunchRmsNormResidualSm80(const FusedNormParams& params, void* stream);

}  // namespace reel::kernels
