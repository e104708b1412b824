// SPDX-License-Identifier: Apache-2.0
// What layer_norm, layer_norm_residual take of the fused norm.
#pragma once

#include "kernels/layer_norm/layer_norm_launch.h"
#include "kernels/rows/fused_norm_row.cuh"

namespace reel::kernels {

using LayerNormRow = FusedNormRow<Statistic::kVariance, kAffine | kNormed>;
using LayerNormResidualRow =
    FusedNormRow<Statistic::kVariance, kResidual | kAffine | kSum | kNormed>;

}  // namespace reel::kernels
