// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of layer_norm, layer_norm_residual. Included by nvcc too.
#pragma once

#include "kernels/rows/fused_norm.h"

namespace reel::kernels {

int32_t LaunchLayerNormGeneric(const FusedNormParams& params, void* stream);
int32_t LaunchLayerNormSm80(const FusedNormParams& params, void* stream);
int32_t LaunchLayerNormResidualGeneric(const FusedNormParams& params, void* stream);
int32_t LaunchLayerNormResidualSm80(const FusedNormParams& params, void* stream);

}  // namespace reel::kernels
