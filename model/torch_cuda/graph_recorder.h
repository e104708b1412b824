// SPDX-License-Identifier: Apache-2.0
// A function of libreel_torch_cuda.so: calls of a device recorded by libtorch.
#pragma once

#include <cstdint>

#include "model/bridge/device_graph.h"

namespace reel::model {

// CudaLibraryTable::zeros_as_kernels.
using ZerosAsKernels = int32_t (*)(void* graph, int32_t* replaced);
// The caller owns what it returns.
using GraphRecorderEntry = GraphRecorder* (*)(int device, ZerosAsKernels zeros);
inline constexpr char kGraphRecorderEntry[] = "reel_graph_recorder";

}  // namespace reel::model
