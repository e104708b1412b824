// SPDX-License-Identifier: Apache-2.0
// Measures the device's memory, and what each piece of a job adds to it.
#pragma once

#include <cstdint>
#include <utility>

#include "model/device_memory.h"

namespace reel::worker {

// Used by the engine thread alone. All zero if the device gives no figures.
class MemoryWatch {
 public:
  // What a piece added: at its peak, and after it. Caches are not counted, and a piece may end with
  // less than it began with.
  struct Growth {
    int64_t peak = 0, stays = 0;
  };

  explicit MemoryWatch(model::MemoryReader reader) : reader_(std::move(reader)) {}

  bool reads() const { return reader_ != nullptr; }
  const model::DeviceMemory& last() const { return last_; }
  // `kept`: bytes of tensors that are only cached.
  const model::DeviceMemory& Read(int64_t kept);
  // Before a piece, and after it.
  void Begin(int64_t kept) { Read(kept); }
  Growth End(int64_t kept);
  // True once when the figures differ from those of the previous call.
  bool TakeChanged();

 private:
  model::MemoryReader reader_;
  model::DeviceMemory last_, told_;
};

}  // namespace reel::worker
