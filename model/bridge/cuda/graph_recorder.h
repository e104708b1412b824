// SPDX-License-Identifier: Apache-2.0
// The one function of libreel_torch_cuda.so, which is linked with libtorch's CUDA half and so
// opened only where a device is.
#pragma once

#include "model/bridge/device_graph.h"

namespace reel::model {

// The caller owns what it returns.
using GraphRecorderEntry = GraphRecorder* (*)(int device);
inline constexpr char kGraphRecorderEntry[] = "reel_graph_recorder";

}  // namespace reel::model
