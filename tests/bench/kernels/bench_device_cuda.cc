// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/built_in_catalog.h"
#include "kernels/cuda/buffer.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/stream.h"
#include "kernels/dispatch/cuda_library.h"
#include "tests/bench/kernels/bench_device.h"
#include "tests/bench/kernels/copy_kernel.h"
#include "tests/unit/kernels/cuda_library_path.h"

namespace reel::kernels {
namespace {

constexpr double kSampleMicroseconds = 2000;
constexpr int kMostNodes = 4096;

struct DestroyGraph {
  void operator()(cudaGraphExec_t graph) const {
    ReportCudaError(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy");
  }
};
using Graph = std::unique_ptr<CUgraphExec_st, DestroyGraph>;

// `turns` rounds of all calls as one graph.
absl::StatusOr<Graph> Capture(const std::vector<BenchCall>& calls, int64_t turns,
                              CudaStreamView stream) {
  REEL_RETURN_IF_ERROR(
      CudaStatus(cudaStreamBeginCapture(stream.handle(), cudaStreamCaptureModeThreadLocal),
                 "cudaStreamBeginCapture"));
  absl::Status status;
  for (int64_t turn = 0; turn < turns; ++turn) {
    for (const BenchCall& call : calls) status.Update(call());
  }
  cudaGraph_t graph = nullptr;
  status.Update(CudaStatus(cudaStreamEndCapture(stream.handle(), &graph), "cudaStreamEndCapture"));
  cudaGraphExec_t ready = nullptr;
  if (status.ok()) {
    status = CudaStatus(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
  }
  if (graph != nullptr) ReportCudaError(cudaGraphDestroy(graph), "cudaGraphDestroy");
  if (!status.ok()) return status;
  return Graph(ready);
}

class GraphCalls : public TimedCalls {
 public:
  GraphCalls(CudaStreamView stream, CudaEvent start, CudaEvent end)
      : stream_(stream), start_(std::move(start)), end_(std::move(end)) {}

  absl::Status Hold(const std::vector<BenchCall>& calls, int64_t turns) {
    REEL_ASSIGN_OR_RETURN(graph_, Capture(calls, turns, stream_));
    calls_ = turns * static_cast<int64_t>(calls.size());
    return absl::OkStatus();
  }
  absl::StatusOr<double> Sample() override {
    REEL_RETURN_IF_ERROR(start_.Record(stream_));
    REEL_RETURN_IF_ERROR(
        CudaStatus(cudaGraphLaunch(graph_.get(), stream_.handle()), "cudaGraphLaunch"));
    REEL_RETURN_IF_ERROR(end_.Record(stream_));
    REEL_RETURN_IF_ERROR(end_.Synchronize());
    REEL_ASSIGN_OR_RETURN(const absl::Duration all, CudaEvent::Between(start_, end_));
    return absl::ToDoubleMicroseconds(all) / static_cast<double>(calls_);
  }

 private:
  CudaStreamView stream_;
  CudaEvent start_, end_;
  Graph graph_;
  int64_t calls_ = 0;
};

class CudaBench : public BenchDevice {
 public:
  CudaBench(KernelCatalog catalog, CudaStream stream)
      : catalog_(std::move(catalog)), stream_(std::move(stream)) {
    static_cast<void>(cudaGetDeviceProperties(&properties_, 0));
  }

  const KernelCatalog& catalog() const override { return catalog_; }
  DeviceStream stream() const override { return stream_.view().stream(); }
  int64_t cache_bytes() const override { return properties_.l2CacheSize; }
  nlohmann::json Describe() const override {
    int driver = 0;
    int runtime = 0;
    int memory_khz = 0;
    int clock_khz = 0;
    static_cast<void>(cudaDriverGetVersion(&driver));
    static_cast<void>(cudaRuntimeGetVersion(&runtime));
    static_cast<void>(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, 0));
    static_cast<void>(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    return {{"device", properties_.name},
            {"clock", "events around replays of a CUDA graph"},
            {"sm", properties_.major * 10 + properties_.minor},
            {"multiprocessors", properties_.multiProcessorCount},
            {"cache_bytes", cache_bytes()},
            {"most_mhz", clock_khz / 1000},
            {"memory_mhz", memory_khz / 1000},
            {"bus_bits", properties_.memoryBusWidth},
            {"cuda_driver", driver},
            {"cuda_runtime", runtime}};
  }

  absl::StatusOr<void*> Allocate(int64_t bytes) override {
    REEL_ASSIGN_OR_RETURN(
        DeviceBuffer buffer,
        DeviceBuffer::Create(0, static_cast<size_t>(std::max<int64_t>(bytes, 1))));
    memory_.push_back(std::move(buffer));
    return memory_.back().data();
  }
  void Release() override { memory_.clear(); }
  absl::Status Write(void* to, const void* host, int64_t bytes) override {
    return Move(to, host, bytes);
  }
  absl::Status Read(void* host, const void* from, int64_t bytes) override {
    return Move(host, from, bytes);
  }
  absl::Status Move(void* to, const void* from, int64_t bytes) override {
    REEL_RETURN_IF_ERROR(CopyAsync(to, from, static_cast<size_t>(bytes), stream_.view()));
    return stream_.Synchronize();
  }

  std::vector<std::string> copies() const override { return {"cudaMemcpyAsync", "copy kernel"}; }
  absl::Status Copy(const std::string& how, void* to, const void* from, int64_t bytes) override {
    if (how == "cudaMemcpyAsync") {
      return CopyAsync(to, from, static_cast<size_t>(bytes), stream_.view());
    }
    return CudaStatus(
        static_cast<cudaError_t>(LaunchCopy(to, from, bytes / 16 * 16, stream().handle)), "copy");
  }

  // One turn tells how many turns make a sample.
  absl::StatusOr<std::unique_ptr<TimedCalls>> Prepare(
      const std::vector<BenchCall>& calls) override {
    REEL_ASSIGN_OR_RETURN(CudaEvent start, CudaEvent::Create(true));
    REEL_ASSIGN_OR_RETURN(CudaEvent end, CudaEvent::Create(true));
    auto prepared = std::make_unique<GraphCalls>(stream_.view(), std::move(start), std::move(end));
    REEL_RETURN_IF_ERROR(prepared->Hold(calls, 1));
    REEL_RETURN_IF_ERROR(prepared->Sample().status());
    REEL_ASSIGN_OR_RETURN(const double once, prepared->Sample());
    const auto count = static_cast<double>(calls.size());
    const double turns = std::min(kSampleMicroseconds / once, double{kMostNodes}) / count;
    REEL_RETURN_IF_ERROR(prepared->Hold(calls, std::max<int64_t>(1, std::llround(turns))));
    REEL_RETURN_IF_ERROR(prepared->Sample().status());  // warm
    return prepared;
  }

 private:
  KernelCatalog catalog_;
  CudaStream stream_;
  cudaDeviceProp properties_{};
  std::vector<DeviceBuffer> memory_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<BenchDevice>> OpenBenchDevice() {
  return OpenCudaBench(CudaLibraryPath());
}

absl::StatusOr<std::unique_ptr<BenchDevice>> OpenCudaBench(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(const CudaLibraryTable* library, LoadCudaLibrary(path));
  REEL_ASSIGN_OR_RETURN(const DeviceProperties properties, PropertiesOf(*library, 0));
  REEL_ASSIGN_OR_RETURN(CudaStream stream, CudaStream::Create(0));
  return std::make_unique<CudaBench>(BuiltInCatalog({.device = 0, .sm = properties.sm}, library),
                                     std::move(stream));
}

}  // namespace reel::kernels
