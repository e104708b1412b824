// SPDX-License-Identifier: Apache-2.0
// Time, twice: what people read, and what timeouts run on. A wall clock that is set in mid-job
// moves no timeout.
#pragma once

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace reel::front {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Wall() const = 0;
  // Since some instant of its own; never goes back.
  virtual absl::Duration Monotonic() const = 0;
};

class SystemClock final : public Clock {
 public:
  absl::Time Wall() const override;
  absl::Duration Monotonic() const override;
};

}  // namespace reel::front
