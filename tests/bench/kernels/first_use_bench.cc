// SPDX-License-Identifier: Apache-2.0
// Measures what a new process waits for before the kernels of a CUDA library are warm. That is
// opening the library, and the first call of every operator, which loads its code.
//
//   kernel_first_use [libreel_cuda.so]
//
// A process has one first use: compare libraries by turns, a process each.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <set>
#include <string>
#include <string_view>

#include "absl/time/clock.h"
#include "kernels/base/status_macros.h"
#include "kernels/cuda/error.h"
#include "kernels/dispatch/kernel_counters.h"
#include "tests/bench/kernels/bench_case.h"
#include "tests/bench/kernels/bench_device.h"

namespace reel::kernels {
namespace {

constexpr BenchSize kSmall = {64, 2048};

class Stopwatch {
 public:
  double TakeMilliseconds() {
    const absl::Time now = absl::Now();
    const double passed = absl::ToDoubleMilliseconds(now - last_);
    last_ = now;
    return passed;
  }

 private:
  absl::Time last_ = absl::Now();
};

struct CallTimes {
  double first = 0;
  double second = 0;
};

absl::StatusOr<CallTimes> TimeCalls(BenchDevice& device, const BenchCase& bench) {
  BenchTensors tensors(device);
  const BenchOp op = bench.make(tensors, bench.units);
  REEL_RETURN_IF_ERROR(tensors.status());
  REEL_ASSIGN_OR_RETURN(const KernelPlan plan, device.catalog().Plan("auto", {}));
  KernelCounters counters;
  const Execution run = {
      .plan = plan, .counters = counters, .timer = nullptr, .stream = device.stream()};
  const auto stream = static_cast<cudaStream_t>(run.stream.handle);
  CallTimes times;
  Stopwatch watch;
  for (double* const time : {&times.first, &times.second}) {
    REEL_RETURN_IF_ERROR(op(run));
    REEL_RETURN_IF_ERROR(CudaStatus(cudaStreamSynchronize(stream), "cudaStreamSynchronize"));
    *time = watch.TakeMilliseconds();
  }
  device.Release();
  return times;
}

// Of some operators the library has no kernel: only libtorch runs them on a device.
bool RunsHere(const KernelCatalog& catalog, std::string_view op) {
  for (const OpListing& listing : catalog.List()) {
    if (listing.op != op) continue;
    return std::any_of(listing.variants.begin(), listing.variants.end(),
                       [](const VariantListing& variant) { return variant.runs; });
  }
  return false;
}

absl::Status Run(const std::string& library) {
  Stopwatch watch;
  REEL_RETURN_IF_ERROR(CudaStatus(cudaFree(nullptr), "cudaFree"));
  std::printf("%-24s %9.3f ms\n", "context", watch.TakeMilliseconds());
  REEL_ASSIGN_OR_RETURN(const auto device, OpenCudaBench(library));
  std::printf("%-24s %9.3f ms\n", "library", watch.TakeMilliseconds());
  std::set<std::string> seen;
  CallTimes all;
  for (const BenchCase& bench : BenchCases(Dtype::kBf16, BenchPreset::kShort, kSmall)) {
    if (!RunsHere(device->catalog(), bench.op)) continue;
    REEL_ASSIGN_OR_RETURN(const CallTimes times, TimeCalls(*device, bench));
    std::printf("%-24s %9.3f ms, then %9.3f ms  %s\n", bench.op.c_str(), times.first, times.second,
                bench.shape.c_str());
    seen.insert(bench.op);
    all.first += times.first;
    all.second += times.second;
  }
  std::printf("%-24s %9.3f ms, then %9.3f ms  (%zu operators)\n", "all calls", all.first,
              all.second, seen.size());
  return absl::OkStatus();
}

}  // namespace
}  // namespace reel::kernels

int main(int argc, char** argv) {
  if (argc > 2) {
    std::cerr << "usage: kernel_first_use [libreel_cuda.so]\n";
    return 2;
  }
  const absl::Status status = reel::kernels::Run(argc == 2 ? argv[1] : REEL_CUDA_LIBRARY);
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
