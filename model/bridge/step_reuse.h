// SPDX-License-Identifier: Apache-2.0
// The operator that stands for blocks that a step leaves out, under the profile "cache": lists,
// statistics and timers name each step that was not computed in full.
#pragma once

#include "model/bridge/ops.h"

namespace reel::model {

// Whether steps of a request may leave blocks out.
bool MayReuseSteps(const kernels::Execution& run);

// x + kept, what the blocks added when they ran last.
at::Tensor WithKept(const Ops& ops, const at::Tensor& x, const at::Tensor& kept);

}  // namespace reel::model
