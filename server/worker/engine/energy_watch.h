// SPDX-License-Identifier: Apache-2.0
// Measures the device's energy since the last call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/time/time.h"

namespace reel::worker {

// Millijoules since any one moment; nothing where the device does not tell this time. Null: it
// never does. Confined to one thread.
using EnergyReader = std::function<std::optional<int64_t>()>;

// Confined to the engine thread.
class EnergyWatch {
 public:
  // A driver's counter goes on a few times a second, and asking it takes milliseconds.
  static constexpr absl::Duration kEvery = absl::Milliseconds(100);

  enum class Ask { kIfDue, kNow };
  struct Reading {
    int64_t millijoules = 0;  // since the reading before
    absl::Duration since;     // then
  };

  EnergyWatch(EnergyReader reader, absl::Time now) : reader_(std::move(reader)) {
    Read(now, Ask::kNow);
  }

  // Nothing while the last one was not long ago, if it need only be as it is due, and where the
  // device does not tell; then the next reading has that time too.
  std::optional<Reading> Read(absl::Time now, Ask ask);
  // Of all readings since the last call: each millijoule once.
  int64_t TakeUntold() { return std::exchange(untold_, 0); }

 private:
  EnergyReader reader_;
  absl::Time read_at_ = absl::InfinitePast();
  std::optional<int64_t> last_;
  int64_t untold_ = 0;
};

}  // namespace reel::worker
