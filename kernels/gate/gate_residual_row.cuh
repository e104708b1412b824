// SPDX-License-Identifier: Apache-2.0
// What gate_residual, gate_residual_adaln take of the fused norm.
#pragma once

#include "kernels/gate/gate_residual_launch.h"
#include "kernels/rows/fused_norm_row.cuh"

namespace reel::kernels {

using GateResidualRow = FusedNormRow<Statistic::kNone, kResidual | kResidualGate | kSum>;
using GateResidualAdalnRow =
    FusedNormRow<Statistic::kMeanSquare, kResidual | kResidualGate | kModulation | kSum | kNormed>;

}  // namespace reel::kernels
