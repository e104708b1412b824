// SPDX-License-Identifier: Apache-2.0
// What adaln_rms_norm, adaln_layer_norm, adaln_zero take of the fused norm.
#pragma once

#include "kernels/adaln/adaln_launch.h"
#include "kernels/rows/fused_norm_row.cuh"

namespace reel::kernels {

using AdalnRmsNormRow = FusedNormRow<Statistic::kMeanSquare, kAffine | kModulation | kNormed>;
using AdalnLayerNormRow = FusedNormRow<Statistic::kVariance, kAffine | kModulation | kNormed>;
using AdalnZeroRow =
    FusedNormRow<Statistic::kMeanSquare, kAffine | kModulation | kOutputGate | kNormed>;

}  // namespace reel::kernels
