// SPDX-License-Identifier: Apache-2.0
// The device of a benchmark's tensors and the timer of its calls: the CPU, or a GPU. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_catalog.h"

namespace reel::kernels {

using BenchCall = std::function<absl::Status()>;

// Some calls that are run in turn, ready to be timed any number of times.
class TimedCalls {
 public:
  virtual ~TimedCalls() = default;
  // Microseconds a call, the mean over all of them in turn.
  virtual absl::StatusOr<double> Sample() = 0;
};

class BenchDevice {
 public:
  virtual ~BenchDevice() = default;
  virtual const KernelCatalog& catalog() const = 0;
  virtual DeviceStream stream() const = 0;
  // For the header of a report: device, how time is taken, versions.
  virtual nlohmann::json Describe() const = 0;
  // The largest cache that the device's memory is behind.
  virtual int64_t cache_bytes() const = 0;

  // Memory until Release, aligned to 256 bytes.
  virtual absl::StatusOr<void*> Allocate(int64_t bytes) = 0;
  virtual void Release() = 0;
  virtual absl::Status Write(void* to, const void* host, int64_t bytes) = 0;
  virtual absl::Status Read(void* host, const void* from, int64_t bytes) = 0;
  virtual absl::Status Move(void* to, const void* from, int64_t bytes) = 0;

  // The ways to copy that a bandwidth is compared with.
  virtual std::vector<std::string> copies() const = 0;
  virtual absl::Status Copy(const std::string& how, void* to, const void* from, int64_t bytes) = 0;

  // `calls` on stream(), in turn and often enough that the clock's grain does not matter.
  virtual absl::StatusOr<std::unique_ptr<TimedCalls>> Prepare(
      const std::vector<BenchCall>& calls) = 0;
};

// For the CPU, and for what a GPU's results are compared with.
std::unique_ptr<BenchDevice> MakeCpuBench();

// The device that this program was built for; the status says why there is none.
absl::StatusOr<std::unique_ptr<BenchDevice>> OpenBenchDevice();
// The first GPU, with the kernels of this libreel_cuda.so. In programs for a GPU only.
absl::StatusOr<std::unique_ptr<BenchDevice>> OpenCudaBench(const std::string& library);

}  // namespace reel::kernels
