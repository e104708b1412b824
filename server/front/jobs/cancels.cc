// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/cancels.h"

#include <memory>
#include <utility>

namespace reel::front {

void Cancels::Cancel(const Reach& reach, const std::string& id, Answer<Video> done) {
  if (ActiveJob* job = jobs_.FindOf(reach, id)) {
    Video before = job->log->Snapshot();
    endings_.Cancel(*job, Reason::kCancelledByOwner, "The video was cancelled");
    return done(std::move(before));
  }
  lookups_.Find(reach, id,
                [done = std::move(done)](absl::StatusOr<std::shared_ptr<Job>> found) mutable {
                  if (!found.ok()) return done(found.status());
                  done((*found)->Snapshot());
                });
}

void Cancels::Leave(const std::string& id, LeaveReason reason) {
  ActiveJob* job = jobs_.Find(id);
  if (job == nullptr || !job->row.bound || job->bound_calls == 0) return;
  if (--job->bound_calls > 0) return;
  if (reason == LeaveReason::kDeadline) return endings_.FailByDeadline(*job, JobEvent::kEnded);
  endings_.Cancel(
      *job, Reason::kOwnerLeft,
      reason == LeaveReason::kSlowReader
          ? "The last stream of the video was closed: its client read nothing for too long"
          : "The last client of the video has disconnected");
}

}  // namespace reel::front
