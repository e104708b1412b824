// SPDX-License-Identifier: Apache-2.0
// How far the way down has come.
#pragma once

#include <atomic>

#include "server/front/jobs/active_job.h"

namespace reel::front {

// Confined to the dispatcher's thread, but for `begun`.
struct DrainState {
  std::atomic<bool> begun = false;
  bool closed = false;     // no new jobs, no new assignments
  bool limit_met = false;  // what runs has had its time

  // It has no future in this process, and nobody who would ask the next one for it.
  bool Ends(const ActiveJob& job) const {
    if (!job.row.bound || job.phase() == Phase::kCreating) return false;
    return job.at_worker() ? limit_met : closed;
  }
  // The next process goes on with it.
  bool Leaves(const ActiveJob& job) const {
    if (job.row.bound) return false;
    if (job.at_worker()) return limit_met;
    return job.phase() == Phase::kQueued || job.phase() == Phase::kRestarting;
  }
};

}  // namespace reel::front
