// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/creation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "server/errors/error.h"
#include "server/front/jobs/run_order.h"
#include "server/front/jobs/video_id.h"

namespace reel::front {

void Creation::Admit(Caller caller) {
  auto checked = parts_.quotes.Check(caller.request);
  if (!checked.ok()) return Refuse(std::move(caller), checked.status());
  const absl::Status load = parts_.quotes.CheckLoad(caller.request, *checked);
  if (load.ok()) return Begin(std::move(caller), *std::move(checked));
  if (caller.reaped || ReasonOf(load) != Reason::kStoreFull) {
    return Refuse(std::move(caller), load);
  }
  // What has expired makes room first.
  caller.reaped = true;
  parts_.expiry.Reap([this, caller = std::move(caller)]() mutable { Admit(std::move(caller)); });
}

void Creation::Refuse(Caller caller, const absl::Status& why) {
  parts_.observer.JobRefused(why, !caller.request.bound);
  const RequestKey key = KeyOf(caller);
  caller.done(why);
  parts_.requests.Answered(key);
}

void Creation::Reserve(NewJob request, bool reaped, Answer<Video> done) {
  auto checked = parts_.quotes.Check(request);
  absl::Status refused = checked.status();
  if (refused.ok()) refused = parts_.quotes.CheckLoad(request, *checked);
  if (!reaped && ReasonOf(refused) == Reason::kStoreFull) {
    return parts_.expiry.Reap(
        [this, request = std::move(request), done = std::move(done)]() mutable {
          Reserve(std::move(request), true, std::move(done));
        });
  }
  if (!refused.ok()) {
    parts_.observer.JobRefused(refused, !request.bound);
    return done(std::move(refused));
  }
  Video video = NewVideo(request, *checked, parts_.clock.Wall());
  video.id = NewVideoId(parts_.replica.name());
  parts_.jobs.Add(Make(request, *std::move(checked), video));
  done(std::move(video));
}

void Creation::DropReservation(const std::string& id) {
  const ActiveJob* const job = parts_.jobs.Find(id);
  if (job != nullptr && job->phase() == Phase::kCreating) parts_.jobs.Remove(id);
}

ActiveJob Creation::Make(const NewJob& request, CheckedRequest checked, Video video) const {
  ActiveJob job(Phase::kCreating);
  job.row.id = video.id;
  job.row.tenant = video.tenant;
  job.row.request_id = video.request_id;
  job.row.bound = request.bound;
  job.row.num_conditions = static_cast<int>(checked.spec.conditions.size());
  job.row.create_time = video.create_time;
  job.priority = video.priority;
  job.log = std::make_shared<LoggedJob>(std::move(video), job.row, parts_.media);
  Apply(RowReserved{}, job.row);
  job.log->Reserve(job.row.reserved_sequence);
  job.reserved_bytes = parts_.quotes.Reservation(request, checked);
  job.need = std::move(checked.need);
  job.cost = checked.cost;
  job.pool = checked.pool;
  job.devices = checked.devices();
  job.condition_bytes = checked.condition_bytes;
  job.accepted = job.last_event = job.stage_since = parts_.clock.Monotonic();
  job.deadline = job.accepted + checked.timeout;
  if (job.cost.observed) {
    job.expected = job.cost.p50();
    job.expected_p90 = job.cost.p90();
  }
  job.bound_calls = request.bound ? 1 : 0;
  return job;
}

void Creation::Begin(Caller caller, CheckedRequest checked) {
  Video video = NewVideo(caller.request, checked, parts_.clock.Wall());
  video.id = NewVideoId(parts_.replica.name());
  const std::string id = video.id;
  ActiveJob job = Make(caller.request, std::move(checked), std::move(video));
  job.row.spec_hash = caller.spec_hash;
  parts_.requests.Claim(KeyOf(caller), id);
  parts_.jobs.Add(std::move(job));
  KeepConditions(id, std::move(caller));
}

void Creation::KeepConditions(const std::string& id, Caller caller) {
  std::vector<MediaStore::Blob> conditions;
  for (const model::Condition& condition : caller.request.spec.conditions) {
    conditions.push_back(condition.bytes ? condition.bytes : std::make_shared<const std::string>());
  }
  if (conditions.empty()) return Store(id, std::move(caller));
  parts_.media.PutConditions(
      id, std::move(conditions),
      parts_.thread.Here<absl::Status>(
          [this, id, caller = std::move(caller)](const absl::Status& put) mutable {
            if (put.ok()) return Store(id, std::move(caller));
            Abandon(id, std::move(caller), put);
          }));
}

void Creation::Store(const std::string& id, Caller caller) {
  parts_.records.Create(parts_.jobs.Get(id), [this, id, caller = std::move(caller)](
                                                 const absl::Status& created) mutable {
    OnCreated(id, std::move(caller), created);
  });
}

void Creation::Abandon(const std::string& id, Caller caller, const absl::Status& why) {
  parts_.media.RemoveConditions(id, parts_.jobs.Get(id).row.num_conditions);
  parts_.requests.Free(KeyOf(caller));
  parts_.jobs.Remove(id);
  Refuse(std::move(caller), why);
}

void Creation::OnCreated(const std::string& id, Caller caller, const absl::Status& created) {
  if (!created.ok()) return Abandon(id, std::move(caller), created);
  ActiveJob& job = parts_.jobs.Get(id);
  parts_.jobs.Apply(job, JobEvent::kCreated);
  parts_.timers.Set({TimerKind::kDeadline, id}, job.deadline);
  WakeTenant(job, parts_.jobs, parts_.share);
  parts_.progress.Add(job, true, parts_.quotes.Ahead(job), parts_.quotes.QueueWait(job));
  const RequestKey key = KeyOf(caller);
  caller.done(std::shared_ptr<Job>(job.log));
  parts_.requests.Answered(key);
}

}  // namespace reel::front
