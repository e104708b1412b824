// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/reservations.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"
#include "server/front/jobs/video_id.h"

namespace reel::front {

namespace {

// In a fleet those before count, too, though no server has them yet.
void CountInFleet(const CheckedRequest& checked, NewJob& request) {
  if (!request.fleet_load) return;
  NewJob::FleetLoad& load = *request.fleet_load;
  ++load.queued;
  ++load.tenant_jobs;
  load.backlog += checked.WorkerTime();
  load.tenant_backlog += checked.devices() * checked.cost.p50();
}

// Why a video of several was not let in, and so none.
absl::Status OfSeveral(const absl::Status& refused, int place, int count) {
  if (count == 1) return refused;
  return WithNote(refused,
                  absl::StrCat("; this holds for video ", place + 1, " of ", count,
                               " that the call asks for, and none was started"),
                  {{"count", absl::StrCat(count)}, {"place", absl::StrCat(place + 1)}});
}

}  // namespace

void Reservations::Reserve(NewJob request, bool reaped, Answer<Video> done) {
  absl::StatusOr<Video> reserved = ReserveAll(request);
  if (!reaped && ReasonOf(reserved.status()) == Reason::kStoreFull) {
    // What has expired makes room first.
    return stored_.Reap([this, request = std::move(request), done = std::move(done)]() mutable {
      Reserve(std::move(request), true, std::move(done));
    });
  }
  done(std::move(reserved));
}

absl::StatusOr<Video> Reservations::ReserveAll(NewJob request) {
  REEL_ASSIGN_OR_RETURN(const CheckedRequest checked, quotes_.Check(request));
  Video first = NewVideo(request, checked, ports_.clock.Wall());
  first.id = NewVideoId(state_.replica.name());
  for (int place = 0; place < request.count; ++place) {
    const absl::StatusOr<Outlook> outlook = quotes_.CheckLoad(request, checked);
    if (!outlook.ok()) {
      DropAll(first, place);
      return OfSeveral(outlook.status(), place, request.count);
    }
    Add(request, checked, first, place, *outlook);
    CountInFleet(checked, request);
  }
  return first;
}

absl::StatusOr<Video> Reservations::Validate(const NewJob& request) {
  if (request.count == 1) return quotes_.Validate(request);
  REEL_ASSIGN_OR_RETURN(Video first, ReserveAll(request));
  DropAll(first, request.count);
  first.id.clear();
  return first;
}

absl::StatusOr<CostEstimate> Reservations::Estimate(const NewJob& request) {
  if (request.count == 1) return quotes_.Estimate(request);
  REEL_ASSIGN_OR_RETURN(const CheckedRequest checked, quotes_.Check(request));
  Video first = NewVideo(request, checked, ports_.clock.Wall());
  first.id = NewVideoId(state_.replica.name());
  const int others = request.count - 1;
  for (int place = 0; place < others; ++place) Add(request, checked, first, place, {});
  // Of the last one, behind the others.
  absl::StatusOr<CostEstimate> estimate = quotes_.Estimate(request);
  DropAll(first, others);
  if (!estimate.ok()) return estimate;
  estimate->device_seconds *= request.count;
  estimate->refusal = Validate(request).status();
  return estimate;
}

void Reservations::Add(const NewJob& request, const CheckedRequest& checked, const Video& first,
                       int place, const Outlook& told) {
  ActiveJob job = Make(request, checked, VideoAt(first, place));
  job.told = told;
  // They run in their order, and all before whoever asks next.
  for (absl::Duration* const time : {&job.accepted, &job.last_event, &job.stage_since}) {
    *time -= absl::Nanoseconds(request.count - 1 - place);
  }
  state_.jobs.Add(std::move(job));
}

void Reservations::DropAll(const Video& first, int count) {
  for (int place = 0; place < count; ++place) Drop(OtherVideoId(first.id, place));
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
