// SPDX-License-Identifier: Apache-2.0
// Two clocks: wall time for people, monotonic time for timeouts. Setting the wall clock changes no
// timeout.
#pragma once

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace reel::front {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Wall() const = 0;
  // Since an arbitrary instant; never decreases.
  virtual absl::Duration Monotonic() const = 0;
};

class SystemClock final : public Clock {
 public:
  absl::Time Wall() const override;
  absl::Duration Monotonic() const override;
};

}  // namespace reel::front
