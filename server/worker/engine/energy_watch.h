// SPDX-License-Identifier: Apache-2.0
// Measures the device's energy between calls.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/time/time.h"

namespace reel::worker {

// Reads millijoules from an arbitrary start; nothing if the device gives no value now. A null
// reader: the device has no counter. Used by one thread.
using EnergyReader = std::function<std::optional<int64_t>()>;

// Confined to the engine thread.
class EnergyWatch {
 public:
  // A driver updates its counter a few times a second, and takes milliseconds to answer.
  static constexpr absl::Duration kEvery = absl::Milliseconds(100);

  enum class Ask { kIfDue, kNow };
  struct Reading {
    int64_t millijoules = 0;  // since the previous reading
    absl::Duration since;     // since that reading
  };

  EnergyWatch(EnergyReader reader, absl::Time now) : reader_(std::move(reader)) {
    Read(now, Ask::kNow);
  }

  // A reading. Nothing if the last one was recent and this one is not urgent, or if the device
  // gives no value; the next reading then covers this time too.
  std::optional<Reading> Read(absl::Time now, Ask ask);
  // The sum of readings since the last call: each millijoule counts once.
  int64_t TakeUntold() { return std::exchange(untold_, 0); }

 private:
  EnergyReader reader_;
  absl::Time read_at_ = absl::InfinitePast();
  std::optional<int64_t> last_;
  int64_t untold_ = 0;
};

}  // namespace reel::worker
