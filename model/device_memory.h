// SPDX-License-Identifier: Apache-2.0
// The memory of a device as an engine reports it. Free of torch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace reel::model {

// Bytes. All at one moment, except the peaks.
struct DeviceMemory {
  int64_t total = 0;     // of the device; 0: it has no memory of its own
  int64_t held = 0;      // by everything on the device: this process, its context, other processes
  int64_t reserved = 0;  // by this process's allocator: tensors, its cache, recorded graphs
  int64_t in_use = 0;    // by tensors of this process
  int64_t kept = 0;      // the part of `in_use` that is only cached, and freed when memory is short
  int64_t peak = 0;      // peak of `in_use` since the previous reading
  int64_t most = 0;      // peak of `in_use` ever

  // What this process's tensors can never get: the context, other processes.
  int64_t outside() const { return std::max<int64_t>(held - reserved, 0); }

  friend bool operator==(const DeviceMemory&, const DeviceMemory&) = default;
};

// Used by one thread. Null: there is nothing to read. It does not set `kept`.
using MemoryReader = std::function<DeviceMemory()>;

// For several devices with the same jobs: the fullest one's figures, and the greatest peaks of any.
// No reader may be null.
inline MemoryReader Fullest(std::vector<MemoryReader> readers) {
  return [readers = std::move(readers)] {
    DeviceMemory all = readers.front()();
    for (size_t i = 1; i < readers.size(); ++i) {
      DeviceMemory own = readers[i]();
      const int64_t peak = std::max(all.peak, own.peak), most = std::max(all.most, own.most);
      if (own.total - own.held < all.total - all.held) all = own;
      all.peak = peak;
      all.most = most;
    }
    return all;
  };
}

// Runs a little work on the device: ABORTED if its context is lost. Null: there is none to lose.
using DeviceProbe = std::function<absl::Status()>;

// For several devices that work on the same jobs: the first error. No probe may be null.
inline DeviceProbe EachOf(std::vector<DeviceProbe> probes) {
  return [probes = std::move(probes)] {
    for (const DeviceProbe& probe : probes) {
      const absl::Status device = probe();
      if (!device.ok()) return device;
    }
    return absl::OkStatus();
  };
}

// Frees what the process's allocator caches. Null: nothing is cached.
using MemoryReturner = std::function<void()>;

}  // namespace reel::model
