// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of adaln_rms_norm, adaln_layer_norm, adaln_zero. Included by nvcc too.
#pragma once

#include "kernels/rows/fused_norm.h"

namespace reel::kernels {

int32_t LaunchAdalnRmsNormGeneric(const FusedNormParams& params, void* stream);
int32_t LaunchAdalnRmsNormSm80(const FusedNormParams& params, void* stream);
int32_t LaunchAdalnRmsNormSm90(const FusedNormParams& params, void* stream);
// Of calls whose out is e4m3; the two above hand them on.
int32_t LaunchAdalnRmsNormE4m3Sm80(const FusedNormParams& params, void* stream);
int32_t LaunchAdalnRmsNormE4m3Sm90(const FusedNormParams& params, void* stream);
int32_t LaunchAdalnLayerNormGeneric(const FusedNormParams& params, void* stream);
int32_t LaunchAdalnLayerNormSm80(const FusedNormParams& params, void* stream);
int32_t LaunchAdalnLayerNormSm90(const FusedNormParams& params, void* stream);
int32_t LaunchAdalnZeroGeneric(const FusedNormParams& params, void* stream);
int32_t LaunchAdalnZeroSm80(const FusedNormParams& params, void* stream);
int32_t LaunchAdalnZeroSm90(const FusedNormParams& params, void* stream);

}  // namespace reel::kernels
