// SPDX-License-Identifier: Apache-2.0
#include "model/torch_cuda/lt_products.h"

#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <limits>
#include <list>
#include <optional>
#include <utility>

#include "model/bridge/rows.h"
#include "model/torch_cuda/lt_call.h"
#include "model/torch_cuda/lt_table.h"

namespace reel::model {
namespace {

// The workspace that the library asks for on this kind of device.
constexpr int64_t kWorkspaceBytes = int64_t{32} << 20;
// The table's algorithms do not split sums.
constexpr int64_t kTunedWorkspaceBytes = int64_t{1} << 20;
constexpr int kCandidates = 16;
// A model has about ten for each size of video.
constexpr size_t kMostShapes = 512;
// Candidates are timed in rounds, one after the other, so that all see the same clocks.
constexpr int kRounds = 3, kCallsOfARound = 4;

class LtProducts final : public MatrixProducts {
 public:
  explicit LtProducts(int device) : device_(static_cast<c10::DeviceIndex>(device)) {}

  bool Takes(const MatrixProduct& product) override {
    const c10::cuda::CUDAGuard guard(device_);
    const LtShape shape = ShapeOf(product);
    if (!AsksTheLibrary(shape) && TunedFor(shape) == nullptr) return false;
    return shape.rows == 0 || Find(shape, product).algorithm.has_value();
  }

  at::Tensor Run(const MatrixProduct& product) override {
    const c10::cuda::CUDAGuard guard(device_);
    const LtShape shape = ShapeOf(product);
    auto sizes = product.x.sizes().vec();
    sizes.back() = shape.outputs;
    const at::Tensor out =
        EmptyRows(sizes, product.x.options().dtype(product.result()), product.room).values;
    if (out.numel() == 0) return out;
    // From the allocator: inside a graph it belongs to the graph.
    const int64_t bytes = shape.tuned ? kTunedWorkspaceBytes : kWorkspaceBytes;
    const at::Tensor workspace = at::empty({bytes}, product.x.options().dtype(at::kByte));
    Known& known = Find(shape, product);
    TORCH_CHECK(known.algorithm.has_value(), "cublasLt has no algorithm for this product");
    const bool records =
        c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None;
    if (!known.timed && !records) Choose(product, workspace, out, known);
    const cublasStatus_t status =
        known.call.Run(handle(), product, *known.algorithm, workspace, out);
    TORCH_CHECK(status == CUBLAS_STATUS_SUCCESS, "cublasLt: ", cublasLtGetStatusName(status));
    return out;
  }

 private:
  struct Known {
    explicit Known(const LtShape& of) : shape(of), call(of) {}
    const LtShape shape;
    LtCall call;
    std::optional<cublasLtMatmulAlgo_t> algorithm;  // the library has none
    bool timed = false;
  };

  // Whether cuBLASLt chooses the algorithm of a shape that the table lacks. libtorch, which would
  // make it else, knows neither results in e4m3 nor room behind their rows.
  static bool AsksTheLibrary(const LtShape& shape) {
    return !shape.tuned || shape.to_e4m3 || shape.out_step > shape.outputs;
  }
  static cublasLtHandle_t handle() { return at::cuda::getCurrentCUDABlasLtHandle(); }

  Known& Find(const LtShape& shape, const MatrixProduct& product) {
    for (Known& known : known_) {
      if (known.shape == shape) return known;
    }
    std::list<Known> added;  // kept only if it is complete
    Known& fresh = added.emplace_front(shape);
    fresh.timed = shape.tuned;  // set by the table's author
    if (shape.tuned) {
      const LtAlgorithm* const algorithm = TunedFor(shape);
      if (algorithm != nullptr) {
        fresh.algorithm =
            fresh.call.Configured(handle(), product, *algorithm, kTunedWorkspaceBytes);
      }
    }
    if (!fresh.algorithm.has_value() && AsksTheLibrary(shape)) {
      const int64_t bytes = shape.tuned ? kTunedWorkspaceBytes : kWorkspaceBytes;
      const auto candidates = fresh.call.Candidates(handle(), product, bytes, 1);
      if (!candidates.empty()) fresh.algorithm = candidates.front();
    }
    known_.splice(known_.begin(), added);
    if (known_.size() > kMostShapes) known_.pop_back();
    return fresh;
  }

  // The fastest candidate, by its best round.
  void Choose(const MatrixProduct& product, const at::Tensor& workspace, const at::Tensor& out,
              Known& known) {
    const std::vector<cublasLtMatmulAlgo_t> candidates =
        known.call.Candidates(handle(), product, kWorkspaceBytes, kCandidates);
    std::vector<float> best(candidates.size(), std::numeric_limits<float>::infinity());
    for (int round = 0; round <= kRounds; ++round) {  // the first one warms up
      for (size_t i = 0; i < candidates.size(); ++i) {
        const float time = Time(product, candidates[i], workspace, out, known.call);
        if (round > 0) best[i] = std::min(best[i], time);
      }
    }
    const auto least = std::min_element(best.begin(), best.end());
    known.algorithm = candidates[static_cast<size_t>(least - best.begin())];
    known.timed = true;
  }

  static float Time(const MatrixProduct& product, const cublasLtMatmulAlgo_t& algorithm,
                    const at::Tensor& workspace, const at::Tensor& out, LtCall& call) {
    at::cuda::CUDAEvent begin(cudaEventDefault), end(cudaEventDefault);
    begin.record();
    for (int i = 0; i < kCallsOfARound; ++i) {
      if (call.Run(handle(), product, algorithm, workspace, out) != CUBLAS_STATUS_SUCCESS) {
        return std::numeric_limits<float>::infinity();
      }
    }
    end.record();
    end.synchronize();
    return begin.elapsed_time(end);
  }

  const c10::DeviceIndex device_;
  std::list<Known> known_;  // latest first
};

}  // namespace
}  // namespace reel::model

extern "C" __attribute__((visibility("default"))) reel::model::MatrixProducts* reel_matrix_products(
    int device) {
  return new reel::model::LtProducts(device);
}
