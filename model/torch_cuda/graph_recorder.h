// SPDX-License-Identifier: Apache-2.0
// Records a device's calls with libtorch. A function of libreel_torch_cuda.so.
#pragma once

#include <cstdint>

#include "model/bridge/device_graph.h"

namespace reel::model {

// CudaLibraryTable::zeros_as_kernels.
using ZerosAsKernels = int32_t (*)(void* graph, int32_t* replaced);
// The caller owns the result.
using GraphRecorderEntry = GraphRecorder* (*)(int device, ZerosAsKernels zeros);
inline constexpr char kGraphRecorderEntry[] = "reel_graph_recorder";

}  // namespace reel::model
