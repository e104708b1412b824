// SPDX-License-Identifier: Apache-2.0
// A fused norm as a model calls it.
#pragma once

#include "kernels/rows/fused_norm_call.h"
#include "model/bridge/call_operands.h"

namespace reel::model {

struct NormCall {
  const kernels::FusedOp& of;
  kernels::FusedOperands<Tensors> operands;
};

}  // namespace reel::model
