// SPDX-License-Identifier: Apache-2.0
// The device's memory, and what each piece of a job adds to it.
#pragma once

#include <cstdint>
#include <utility>

#include "model/device_memory.h"

namespace reel::worker {

// Confined to the engine thread. Where there is nothing to read all of it is zero.
class MemoryWatch {
 public:
  // Of a piece: at its fullest, and what is left of that after it. What is only remembered counts
  // for nobody, and a piece may leave less than it found.
  struct Growth {
    int64_t peak = 0, stays = 0;
  };

  explicit MemoryWatch(model::MemoryReader reader) : reader_(std::move(reader)) {}

  bool reads() const { return reader_ != nullptr; }
  const model::DeviceMemory& last() const { return last_; }
  // `kept` is what of the tensors is only remembered.
  const model::DeviceMemory& Read(int64_t kept);
  // Before a piece, and after it.
  void Begin(int64_t kept) { Read(kept); }
  Growth End(int64_t kept);
  // True, once, where the figures are others than when it was asked last.
  bool TakeChanged();

 private:
  model::MemoryReader reader_;
  model::DeviceMemory last_, told_;
};

}  // namespace reel::worker
