// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/device_graph.h"

#include "model/bridge/cuda/graph_recorder.h"
#include "model/bridge/torch_cuda_library.h"

namespace reel::model {

std::unique_ptr<GraphRecorder> MakeGraphRecorder(at::Device device) {
  if (!device.is_cuda()) return nullptr;
  const auto entry = reinterpret_cast<GraphRecorderEntry>(FindInTorchCuda(kGraphRecorderEntry));
  return std::unique_ptr<GraphRecorder>(entry == nullptr ? nullptr : entry(device.index()));
}

}  // namespace reel::model
