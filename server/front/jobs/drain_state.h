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

  // A drain ends it: it is bound, and this process will not finish it.
  bool Ends(const ActiveJob& job) const {
    if (!job.row.bound || job.phase() == Phase::kCreating) return false;
    return job.at_worker() ? limit_met : closed;
  }
  // A drain leaves it in the store for the next process.
  bool Leaves(const ActiveJob& job) const {
    if (job.row.bound) return false;
    if (job.at_worker()) return limit_met;
    return job.phase() == Phase::kQueued || job.phase() == Phase::kRestarting;
  }
};

}  // namespace reel::front
