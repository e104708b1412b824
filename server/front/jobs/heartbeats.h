// SPDX-License-Identifier: Apache-2.0
// Writes progress for every live job that was silent too long, and for a queued job whose position
// has changed.
#pragma once

#include "absl/time/time.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/progress_log.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class Heartbeats {
 public:
  Heartbeats(DispatcherState& state, ProgressLog& progress, const Clock& clock)
      : state_(state), progress_(progress), clock_(clock) {}

  // How often Beat wants to be called.
  absl::Duration period() const;
  void Beat();

 private:
  DispatcherState& state_;
  ProgressLog& progress_;
  const Clock& clock_;
};

}  // namespace reel::front
