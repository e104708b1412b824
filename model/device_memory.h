// SPDX-License-Identifier: Apache-2.0
// The memory of a device as an engine reports it. No torch here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace reel::model {

// Bytes. All of one moment, but for the peaks.
struct DeviceMemory {
  int64_t total = 0;     // of the device; 0: it has none of its own
  int64_t held = 0;      // by everybody on the device: this process, its context, other processes
  int64_t reserved = 0;  // by this process's allocator: tensors, what it keeps for the next ones,
                         // recorded graphs
  int64_t in_use = 0;    // by tensors of this process
  int64_t kept = 0;      // of `in_use` what is only remembered, and given up when memory is short
  int64_t peak = 0;      // of `in_use`, since the reading before
  int64_t most = 0;      // of `in_use`, ever

  // What no tensor of this process gets, whatever is given up: the context, other processes.
  int64_t outside() const { return std::max<int64_t>(held - reserved, 0); }

  friend bool operator==(const DeviceMemory&, const DeviceMemory&) = default;
};

// Confined to one thread. Null: there is nothing to read. `kept` is not its to tell.
using MemoryReader = std::function<DeviceMemory()>;

// Of several devices that hold the same jobs, the fullest; its peaks are the greatest of any. None
// of the readers is null.
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

// Works the device a little: ABORTED where its context is lost. Null: there is none to lose.
using DeviceProbe = std::function<absl::Status()>;

// Of several devices that work on the same jobs: what the first says that is not well. None of the
// probes is null.
inline DeviceProbe EachOf(std::vector<DeviceProbe> probes) {
  return [probes = std::move(probes)] {
    for (const DeviceProbe& probe : probes) {
      const absl::Status device = probe();
      if (!device.ok()) return device;
    }
    return absl::OkStatus();
  };
}

// Gives back what the process's allocator keeps and nobody uses. Null: there is nothing to give.
using MemoryReturner = std::function<void()>;

}  // namespace reel::model
