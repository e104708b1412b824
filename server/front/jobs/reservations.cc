// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/reservations.h"

#include <memory>
#include <utility>

#include "server/errors/error.h"
#include "server/front/jobs/video_id.h"

namespace reel::front {

void Reservations::Reserve(NewJob request, bool reaped, Answer<Video> done) {
  auto checked = quotes_.Check(request);
  absl::Status refused = checked.status();
  absl::StatusOr<Outlook> outlook = Outlook();
  if (refused.ok()) outlook = quotes_.CheckLoad(request, *checked);
  refused.Update(outlook.status());
  if (!reaped && ReasonOf(refused) == Reason::kStoreFull) {
    // What has expired makes room first.
    return stored_.Reap([this, request = std::move(request), done = std::move(done)]() mutable {
      Reserve(std::move(request), true, std::move(done));
    });
  }
  if (!refused.ok()) return done(std::move(refused));
  Video video = NewVideo(request, *checked, ports_.clock.Wall());
  video.id = NewVideoId(state_.replica.name());
  state_.jobs.Add(Make(request, *std::move(checked), video)).told = *outlook;
  done(std::move(video));
}

void Reservations::Drop(const std::string& id) {
  const ActiveJob* const job = state_.jobs.Find(id);
  if (job != nullptr && job->phase() == Phase::kReserved) state_.jobs.Remove(id);
}

ActiveJob Reservations::Make(const NewJob& request, CheckedRequest checked, Video video) const {
  ActiveJob job(Phase::kReserved);
  job.id = video.id;
  job.tenant = video.tenant;
  job.priority = video.priority;
  job.streamed = request.bound;
  job.log = std::make_shared<LoggedJob>(std::move(video), 0, ports_.media);
  job.reserved_bytes = quotes_.Reservation(request, checked);
  job.need = std::move(checked.need);
  job.cost = checked.cost;
  job.pool = checked.pool;
  job.devices = checked.devices();
  job.condition_bytes = checked.condition_bytes;
  job.accepted = job.last_event = job.stage_since = ports_.clock.Monotonic();
  job.deadline = job.accepted + checked.timeout;
  return job;
}

}  // namespace reel::front
