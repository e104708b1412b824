// SPDX-License-Identifier: Apache-2.0
// Replaces memsets of counters in recorded graphs by kernels. Libraries zero their counters, a few
// bytes each, before a kernel; a device pauses 2 to 4 us beside such a memory node, and hardly at
// all beside a kernel.
#pragma once

#include <cstdint>

namespace reel::kernels {

// Replaces the nodes of `graph` (cudaGraph_t) that zero up to 4 KiB, in the same order with all
// others; `replaced` is their number. Returns a cudaError_t; after an error the graph may be
// incomplete.
int32_t ZerosAsKernels(void* graph, int32_t* replaced);

}  // namespace reel::kernels
