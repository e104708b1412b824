// SPDX-License-Identifier: Apache-2.0
// The memory of a device as an engine reports it. No torch here.
#pragma once

#include <cstdint>
#include <functional>

namespace reel::model {

// Bytes.
struct DeviceMemory {
  int64_t held = 0;  // by everybody on the device, as its driver counts: weights, caches, contexts
  int64_t in_use = 0;  // by tensors of this process
  int64_t peak = 0;    // of in_use, since the reading before
};

// Confined to one thread. Null: there is nothing to read.
using MemoryReader = std::function<DeviceMemory()>;

}  // namespace reel::model
