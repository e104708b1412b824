// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/device_graph.h"

#include "model/bridge/torch_cuda_library.h"
#include "model/torch_cuda/graph_recorder.h"

namespace reel::model {

std::unique_ptr<GraphRecorder> MakeGraphRecorder(at::Device device) {
  if (!device.is_cuda()) return nullptr;
  const auto entry = reinterpret_cast<GraphRecorderEntry>(FindInTorchCuda(kGraphRecorderEntry));
  const kernels::CudaLibraryTable* const kernels = OpenedKernels();
  if (entry == nullptr || kernels == nullptr) return nullptr;
  return std::unique_ptr<GraphRecorder>(entry(device.index(), kernels->zeros_as_kernels));
}

}  // namespace reel::model
