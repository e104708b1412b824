// SPDX-License-Identifier: Apache-2.0
// How far a drain has come.
#pragma once

#include <atomic>

#include "server/front/jobs/active_job.h"

namespace reel::front {

// Confined to the dispatcher's thread, but for `begun`.
struct DrainState {
  std::atomic<bool> begun = false;
  bool closed = false;     // no new jobs, no new assignments
  bool limit_met = false;  // running jobs have had their time

  // It is in its log, for the next process or for another server.
  bool Leaves(const ActiveJob& job) const {
    return job.at_worker() ? limit_met : job.phase() == Phase::kQueued;
  }
};

}  // namespace reel::front
