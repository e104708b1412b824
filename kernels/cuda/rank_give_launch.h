// SPDX-License-Identifier: Apache-2.0
// Launches the kernel with which ranks of a group write to each other:
// kernels/dispatch/rank_give_layout.h.
#pragma once

#include "kernels/dispatch/rank_give_layout.h"

namespace reel::kernels {

// On `stream` (cudaStream_t). Returns a cudaError_t.
int32_t GiveToRanks(const RankGive& give, void* stream);

}  // namespace reel::kernels
