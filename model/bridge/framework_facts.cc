// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/framework_facts.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <torch/headeronly/version.h>

#include "absl/time/clock.h"
#include "model/bridge/torch_guard.h"

namespace reel::model {
namespace {

constexpr absl::Duration kAskDriverEvery = absl::Seconds(1);

class Reader {
 public:
  explicit Reader(int device) : device_(static_cast<c10::DeviceIndex>(device)) {}

  DeviceMemory operator()() {
    const absl::Status read = TorchGuard([&]() -> absl::Status {
      c10::DeviceAllocator* allocator = c10::getDeviceAllocator(c10::kCUDA);
      const auto bytes = allocator->getDeviceStats(device_).allocated_bytes[0];
      last_.in_use = bytes.current;
      last_.peak = bytes.peak;
      allocator->resetPeakStats(device_);
      const absl::Time now = absl::Now();
      if (now - asked_ < kAskDriverEvery) return absl::OkStatus();
      asked_ = now;
      const auto [free, total] = allocator->getMemoryInfo(device_);
      last_.held = static_cast<int64_t>(total) - static_cast<int64_t>(free);
      return absl::OkStatus();
    });
    // A figure that cannot be had stops nothing: the one before stands.
    read.IgnoreError();
    return last_;
  }

 private:
  const c10::DeviceIndex device_;
  DeviceMemory last_;
  absl::Time asked_ = absl::InfinitePast();
};

}  // namespace

MemoryReader TorchMemoryReader(kernels::DeviceStream stream) {
  if (stream.device < 0) return nullptr;
  return Reader(stream.device);
}

std::string FrameworkVersion() { return TORCH_VERSION; }

}  // namespace reel::model
