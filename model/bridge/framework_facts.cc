// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/framework_facts.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <torch/headeronly/version.h>

#include <algorithm>

#include "absl/time/clock.h"
#include "kernels/base/status_macros.h"
#include "model/bridge/torch_cuda_library.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "model/torch_cuda/memory_limit.h"

namespace reel::model {
namespace {

constexpr absl::Duration kAskDriverEvery = absl::Seconds(1);

class Reader {
 public:
  explicit Reader(int device) : device_(static_cast<c10::DeviceIndex>(device)) {}

  DeviceMemory operator()() {
    const absl::Status read = TorchGuard([&]() -> absl::Status {
      c10::DeviceAllocator* allocator = c10::getDeviceAllocator(c10::kCUDA);
      const auto stats = allocator->getDeviceStats(device_);
      last_.in_use = stats.allocated_bytes[0].current;
      last_.reserved = stats.reserved_bytes[0].current;
      last_.peak = stats.allocated_bytes[0].peak;
      last_.most = std::max(last_.most, last_.peak);
      allocator->resetPeakStats(device_);
      AskDriver(*allocator);
      last_.held = outside_ + last_.reserved;
      return absl::OkStatus();
    });
    // A figure that cannot be had stops nothing: the one before stands.
    read.IgnoreError();
    return last_;
  }

 private:
  // What is not this process's tensors changes seldom; what is comes from the allocator each time,
  // so that the two are never of different moments.
  void AskDriver(c10::DeviceAllocator& allocator) {
    const absl::Time now = absl::Now();
    if (now - asked_ < kAskDriverEvery) return;
    asked_ = now;
    const auto [free, total] = allocator.getMemoryInfo(device_);
    last_.total = static_cast<int64_t>(total);
    const int64_t held = last_.total - static_cast<int64_t>(free);
    outside_ = std::max<int64_t>(held - last_.reserved, 0);
  }

  const c10::DeviceIndex device_;
  int64_t outside_ = 0;
  DeviceMemory last_;
  absl::Time asked_ = absl::InfinitePast();
};

}  // namespace

MemoryReader TorchMemoryReader(kernels::DeviceStream stream) {
  if (stream.device < 0) return nullptr;
  return Reader(stream.device);
}

DeviceProbe TorchDeviceProbe(kernels::DeviceStream stream) {
  if (stream.device < 0) return nullptr;
  return [stream] { return ProbeTorchDevice(stream); };
}

MemoryReturner TorchMemoryReturner(kernels::DeviceStream stream) {
  if (stream.device < 0) return nullptr;
  return [] {
    TorchGuard([]() -> absl::Status {
      c10::getDeviceAllocator(c10::kCUDA)->emptyCache();
      return absl::OkStatus();
    }).IgnoreError();  // what cannot be given back is missed by whoever asks next
  };
}

absl::Status LimitTorchMemory(kernels::DeviceStream stream, int64_t bytes) {
  if (stream.device < 0) return absl::OkStatus();
  return TorchGuard([&]() -> absl::Status {
    REEL_RETURN_IF_ERROR(TorchDeviceOf(stream).status());
    const auto limit = reinterpret_cast<MemoryLimitEntry>(FindInTorchCuda(kMemoryLimitEntry));
    if (limit == nullptr) {
      return absl::FailedPreconditionError(
          "the device's memory cannot be limited: libreel_torch_cuda.so does not lie beside "
          "libreel_cuda.so");
    }
    limit(stream.device, bytes);
    return absl::OkStatus();
  });
}

std::string FrameworkVersion() { return TORCH_VERSION; }

}  // namespace reel::model
