// SPDX-License-Identifier: Apache-2.0
// The memory of a device as an engine reports it. No torch here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace reel::model {

// Bytes.
struct DeviceMemory {
  int64_t held = 0;  // by everybody on the device, as its driver counts: weights, caches, contexts
  int64_t in_use = 0;  // by tensors of this process
  int64_t peak = 0;    // of in_use, since the reading before
};

// Confined to one thread. Null: there is nothing to read.
using MemoryReader = std::function<DeviceMemory()>;

// Of several devices that hold the same job; none of the readers is null.
inline MemoryReader Greatest(std::vector<MemoryReader> readers) {
  return [readers = std::move(readers)] {
    DeviceMemory all;
    for (const MemoryReader& reader : readers) {
      const DeviceMemory own = reader();
      all.held = std::max(all.held, own.held);
      all.in_use = std::max(all.in_use, own.in_use);
      all.peak = std::max(all.peak, own.peak);
    }
    return all;
  };
}

}  // namespace reel::model
