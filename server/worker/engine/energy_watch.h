// SPDX-License-Identifier: Apache-2.0
// How much energy the device has taken since somebody asked.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace reel::worker {

// Millijoules since any one moment; nothing where the device does not tell this time. Null: it
// never does. Confined to one thread.
using EnergyReader = std::function<std::optional<int64_t>()>;

// Confined to the engine thread.
class EnergyWatch {
 public:
  // A driver's counter goes on a few times a second, and asking it is not for nothing.
  static constexpr absl::Duration kEvery = absl::Milliseconds(100);

  explicit EnergyWatch(EnergyReader reader) : reader_(std::move(reader)) { Take(absl::Now()); }

  // Millijoules since it was read last; 0 while that was not long ago.
  int64_t Take(absl::Time now);

 private:
  EnergyReader reader_;
  absl::Time read_at_ = absl::InfinitePast();
  std::optional<int64_t> last_;
};

}  // namespace reel::worker
