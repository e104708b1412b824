// SPDX-License-Identifier: Apache-2.0
// The one function of libreel_torch_cuda.so, which is linked with libtorch's CUDA half and so
// opened only where a device is.
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
