// SPDX-License-Identifier: Apache-2.0
// Libraries set their counters, some bytes each, to zero before a kernel. Recorded, that is a node
// for memory, beside which a device pauses 2 to 4 us; beside a kernel it hardly does.
#pragma once

#include <cstdint>

namespace reel::kernels {

// Kernels in the place of the nodes of `graph` (cudaGraph_t) that set up to 4 KiB to zero, in the
// same order with all others; `replaced` is how many. A cudaError_t; after an error the graph may
// be in pieces.
int32_t ZerosAsKernels(void* graph, int32_t* replaced);

}  // namespace reel::kernels
