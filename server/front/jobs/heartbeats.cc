// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/heartbeats.h"

#include <algorithm>

#include "server/front/scheduling/forecast.h"

namespace reel::front {
namespace {

constexpr absl::Duration kLongestPeriod = absl::Seconds(1);
constexpr absl::Duration kShortestPeriod = absl::Milliseconds(10);

}  // namespace

Heartbeats::Heartbeats(JobTable& jobs, const StateSource& states, ProgressLog& progress,
                       const JobOptions& options, const Clock& clock)
    : jobs_(jobs), states_(states), progress_(progress), options_(options), clock_(clock) {}

absl::Duration Heartbeats::period() const {
  return std::clamp(options_.heartbeat / 4, kShortestPeriod, kLongestPeriod);
}

void Heartbeats::Beat() {
  const absl::Duration now = clock_.Monotonic();
  const absl::Duration silent_since = now - (options_.heartbeat - period());
  for (const Outlook& outlook : Foresee(states_.Now(), now)) {
    if (outlook.job->at_worker()) continue;
    ActiveJob& job = jobs_.Get(outlook.job->id);
    const bool moved = job.log->queue_position() != outlook.position;
    if (moved || job.last_event <= silent_since) {
      progress_.Add(job, false, outlook.position, outlook.wait);
    }
  }
  for (auto& [id, job] : jobs_) {
    // While an end is being written its number is taken: nothing may follow it.
    if (job.at_worker() && job.last_event <= silent_since) progress_.AddAtWorker(job, false);
  }
}

}  // namespace reel::front
