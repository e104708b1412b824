// SPDX-License-Identifier: Apache-2.0
// The memory of a device as an engine reports it. No torch here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

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

// Works the device a little: ABORTED where its context is lost. Null: there is none to lose.
using DeviceProbe = std::function<absl::Status()>;

// Gives back what the process's allocator keeps and nobody uses. Null: there is nothing to give.
using MemoryReturner = std::function<void()>;

}  // namespace reel::model
