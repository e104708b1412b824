// SPDX-License-Identifier: Apache-2.0
#include "model/torch_cuda/graph_recorder.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>

#include <memory>
#include <utility>

namespace reel::model {
namespace {

// A memory pool that graphs share. libtorch frees it with the last graph in it, and then allows no
// more.
struct GraphPool {
  const at::cuda::MempoolId_t id = at::cuda::graph_pool_handle();
};

class CudaGraph final : public DeviceGraph {
 public:
  explicit CudaGraph(std::shared_ptr<const GraphPool> pool) : pool_(std::move(pool)) {}

  void Replay() override { graph_.replay(); }
  at::cuda::CUDAGraph& graph() { return graph_; }
  const GraphPool& pool() const { return *pool_; }

 private:
  const std::shared_ptr<const GraphPool> pool_;
  at::cuda::CUDAGraph graph_{/*keep_graph=*/true};  // instantiated when it is complete
};

// Records a stream while it lives. If an exception ends it early, there is no graph.
class Capture {
 public:
  Capture(at::cuda::CUDAGraph& graph, at::cuda::MempoolId_t pool) : graph_(graph) {
    // Only for this thread: others continue to copy frames and free memory.
    graph_.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
  }
  ~Capture() {
    if (ended_) return;
    try {
      graph_.capture_end();
    } catch (const std::exception&) {
      // Reports again what broke the capture, which is being thrown already.
    }
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  void End() {
    ended_ = true;
    graph_.capture_end();
  }

 private:
  at::cuda::CUDAGraph& graph_;
  bool ended_ = false;
};

class CudaGraphRecorder final : public GraphRecorder {
 public:
  CudaGraphRecorder(int device, ZerosAsKernels zeros)
      : device_(static_cast<c10::DeviceIndex>(device)), zeros_(zeros) {}

  std::unique_ptr<DeviceGraph> Record(
      std::function<void(kernels::DeviceStream stream)> body) override {
    std::shared_ptr<const GraphPool> pool = pool_.lock();
    if (pool == nullptr) pool_ = pool = std::make_shared<GraphPool>();
    auto made = std::make_unique<CudaGraph>(std::move(pool));
    // The default stream cannot be recorded.
    const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool(false, device_);
    const c10::cuda::CUDAStreamGuard current(stream);
    Capture capture(made->graph(), made->pool().id);
    body({.device = device_, .handle = stream.stream()});
    capture.End();
    int32_t replaced = 0;
    const int32_t error = zeros_(made->graph().raw_cuda_graph(), &replaced);
    TORCH_CHECK(error == cudaSuccess, "a recorded graph could not be changed: ",
                cudaGetErrorName(static_cast<cudaError_t>(error)));
    made->graph().instantiate();
    return made;
  }

 private:
  const c10::DeviceIndex device_;
  const ZerosAsKernels zeros_;
  std::weak_ptr<const GraphPool> pool_;  // of the existing graphs
};

}  // namespace
}  // namespace reel::model

extern "C" __attribute__((visibility("default"))) reel::model::GraphRecorder* reel_graph_recorder(
    int device, reel::model::ZerosAsKernels zeros) {
  return new reel::model::CudaGraphRecorder(device, zeros);
}
