// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/heartbeats.h"

#include <algorithm>

#include "server/front/scheduling/forecast.h"

namespace reel::front {
namespace {

constexpr absl::Duration kLongestPeriod = absl::Seconds(1);
constexpr absl::Duration kShortestPeriod = absl::Milliseconds(10);

}  // namespace

absl::Duration Heartbeats::period() const {
  return std::clamp(state_.options.heartbeat / 4, kShortestPeriod, kLongestPeriod);
}

void Heartbeats::Beat() {
  const absl::Duration now = clock_.Monotonic();
  const absl::Duration silent_since = now - (state_.options.heartbeat - period());
  for (const Outlook& outlook : Foresee(state_.Now(), now)) {
    if (outlook.job->at_worker()) continue;
    ActiveJob& job = state_.jobs.Get(outlook.job->id);
    const bool moved = job.log->queue_position() != outlook.position;
    if (moved || job.last_event <= silent_since) {
      progress_.Add(job, false, outlook.position, outlook.wait);
    }
  }
  for (auto& [id, job] : state_.jobs) {
    // While an end is being written its number is taken: nothing may follow it.
    if (job.at_worker() && job.last_event <= silent_since) progress_.AddAtWorker(job, false);
  }
}

}  // namespace reel::front
