// SPDX-License-Identifier: Apache-2.0
// What rms_norm_residual take of the fused norm.
#pragma once

#include "kernels/rms_norm/rms_norm_residual_launch.h"
#include "kernels/rows/fused_norm_row.cuh"

namespace reel::kernels {

using RmsNormResidualRow =
    FusedNormRow<Statistic::kMeanSquare, kResidual | kAffine | kSum | kNormed>;

}  // namespace reel::kernels
