// SPDX-License-Identifier: Apache-2.0
// From a call to a job: request ids first, then admission, then the store. Calls with one request
// id are looked after one by one, so that a hundred at once make one job.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/front/jobs/scheduler.h"
#include "server/front/jobs/video_id.h"

namespace reel::front {
namespace {

absl::Status Conflict(const std::string& request_id, const std::string& id) {
  ErrorDetails details;
  details.metadata = {{"request_id", request_id}, {"video", absl::StrCat("videos/", id)}};
  details.resource_type = "video";
  details.resource_name = absl::StrCat("videos/", id);
  return MakeError(Reason::kRequestIdConflict,
                   absl::StrCat("The request id belongs to a video with another spec: videos/", id),
                   details);
}

absl::Status Expired(const std::string& request_id) {
  ErrorDetails details;
  details.metadata = {{"request_id", request_id}};
  details.resource_type = "video";
  details.resource_name = request_id;
  return MakeError(Reason::kVideoExpired, "The video of this request id has been removed", details);
}

Video NewVideo(const NewJob& request, const CheckedRequest& checked, absl::Time wall) {
  Video video;
  video.tenant = request.tenant;
  video.spec = checked.spec;
  for (model::Condition& condition : video.spec.conditions) condition.bytes.reset();
  video.create_time = wall;
  video.deadline = wall + checked.timeout;
  video.progress.stage = model::Stage::kQueue;
  video.progress.num_steps = checked.need.shape.steps();
  video.request_id = request.request_id;
  video.priority = request.priority;
  video.labels = request.labels;
  video.trace_id = request.trace_id;
  return video;
}

}  // namespace

void Scheduler::Create(Caller caller) {
  const RequestKey key{caller.request.tenant, caller.request.request_id};
  if (key.second.empty()) return Admit(std::move(caller));
  requests_[key].callers.push_back(std::move(caller));
  ServeRequest(key);
}

// Looks after the callers of one request id, until one of them has to wait for somebody.
void Scheduler::ServeRequest(const RequestKey& key) {
  const auto found = requests_.find(key);
  if (found == requests_.end()) return;
  Request& request = found->second;
  while (!request.busy && !request.callers.empty()) {
    ActiveJob* job = FindActive(request.job);
    if (job == nullptr) {
      request.busy = true;
      parts_.store.FindRequest(key.first, key.second,
                               Here<absl::StatusOr<RequestRecord>>([this, key](auto record) {
                                 OnRequestRecord(key, std::move(record));
                               }));
      return;
    }
    // What becomes of it decides whether its id is free again.
    if (job->phase == Phase::kCreating || job->phase == Phase::kEnding) return;
    Caller caller = std::move(request.callers.front());
    request.callers.erase(request.callers.begin());
    Join(*job, std::move(caller));
  }
  if (!request.busy && request.job.empty() && request.callers.empty()) requests_.erase(found);
}

void Scheduler::Answered(const RequestKey& key) {
  if (key.second.empty()) return;
  requests_[key].busy = false;
  ServeRequest(key);
}

void Scheduler::OnRequestRecord(const RequestKey& key, absl::StatusOr<RequestRecord> record) {
  Request& request = requests_[key];
  Caller caller = std::move(request.callers.front());
  request.callers.erase(request.callers.begin());
  if (!record.ok()) return Refuse(std::move(caller), record.status());
  if (record->row && record->row->spec_hash != caller.spec_hash) {
    return Refuse(std::move(caller), Conflict(key.second, record->row->id));
  }
  if (record->row) {
    auto stored = ReadBack(*record->row);
    if (stored.ok()) {
      caller.done(std::shared_ptr<Job>(*std::move(stored)));
    } else {
      caller.done(stored.status());
    }
    return Answered(key);
  }
  if (record->tombstone) return Refuse(std::move(caller), Expired(key.second));
  Admit(std::move(caller));
}

void Scheduler::Join(ActiveJob& job, Caller caller) {
  if (job.row.spec_hash != caller.spec_hash) {
    parts_.observer.JobRefused(Conflict(job.row.request_id, job.id()), !caller.request.bound);
    return caller.done(Conflict(job.row.request_id, job.id()));
  }
  job.waits_for_owner = false;
  timers_.Clear("rejoin " + job.id());
  std::shared_ptr<Job> joined = job.log;
  if (caller.request.bound || !job.row.bound) {
    if (job.row.bound) ++job.bound_calls;
    caller.done(std::move(joined));
  } else {
    // Detached for good, before anybody is told.
    job.row.bound = false;
    Save(job, Durability::kLogged,
         Here<absl::Status>([done = std::move(caller.done),
                             joined = std::move(joined)](const absl::Status& saved) mutable {
           if (saved.ok()) {
             done(std::move(joined));
           } else {
             done(saved);
           }
         }));
  }
  Pump();
}

void Scheduler::Admit(Caller caller) {
  auto checked = admission_.CheckRequest(caller.request, random_() & 0xFFFFFFFF);
  if (!checked.ok()) return Refuse(std::move(caller), checked.status());
  const double jitter = std::uniform_real_distribution<double>(0.8, 1.2)(random_);
  const absl::Status load = admission_.CheckLoad(
      caller.request, *checked, LoadFor(caller.request.tenant), quarantine_, now(), jitter);
  if (load.ok()) return Begin(std::move(caller), *std::move(checked));
  if (caller.reaped || ReasonOf(load) != Reason::kStoreFull) {
    return Refuse(std::move(caller), load);
  }
  // What has expired makes room first.
  caller.reaped = true;
  auto waiting = std::make_shared<Caller>(std::move(caller));
  Reap([this, waiting] { Admit(std::move(*waiting)); });
}

void Scheduler::Refuse(Caller caller, const absl::Status& why) {
  parts_.observer.JobRefused(why, !caller.request.bound);
  const RequestKey key{caller.request.tenant, caller.request.request_id};
  caller.done(why);
  Answered(key);
}

void Scheduler::Begin(Caller caller, CheckedRequest checked) {
  ActiveJob job;
  Video video = NewVideo(caller.request, checked, wall());
  video.id = NewVideoId(options_.replica);
  job.row.id = video.id;
  job.row.tenant = video.tenant;
  job.row.request_id = video.request_id;
  job.row.spec_hash = caller.spec_hash;
  job.row.bound = caller.request.bound;
  job.row.num_conditions = static_cast<int>(checked.spec.conditions.size());
  job.row.create_time = video.create_time;
  job.log = std::make_shared<LoggedJob>(std::move(video), job.row, parts_.media);
  job.row.reserved_sequence = kSequenceBlock;
  job.log->Reserve(kSequenceBlock);
  job.need = std::move(checked.need);
  job.cost = checked.cost;
  job.accepted = job.last_event = job.stage_since = now();
  job.deadline = job.accepted + checked.timeout;
  if (job.cost.observed) {
    job.expected = job.cost.p50();
    job.expected_p90 = job.cost.p90();
  }
  job.bound_calls = caller.request.bound ? 1 : 0;
  const std::string id = job.id();
  if (!job.row.request_id.empty()) requests_[{job.row.tenant, job.row.request_id}].job = id;
  jobs_.emplace(id, std::move(job));

  std::vector<MediaStore::Blob> conditions;
  for (const model::Condition& condition : caller.request.spec.conditions) {
    conditions.push_back(condition.bytes ? condition.bytes : std::make_shared<const std::string>());
  }
  if (conditions.empty()) return StoreNew(id, std::move(caller));
  auto waiting = std::make_shared<Caller>(std::move(caller));
  parts_.media.PutConditions(id, std::move(conditions),
                             Here<absl::Status>([this, id, waiting](const absl::Status& put) {
                               if (put.ok()) return StoreNew(id, std::move(*waiting));
                               Abandon(id, std::move(*waiting), put);
                             }));
}

void Scheduler::StoreNew(const std::string& id, Caller caller) {
  ActiveJob& job = jobs_.at(id);
  JobRow row = job.row;
  row.video = parts_.serializer.Serialize(job.log->Snapshot());
  auto waiting = std::make_shared<Caller>(std::move(caller));
  parts_.store.Create(std::move(row),
                      Here<absl::Status>([this, id, waiting](const absl::Status& created) {
                        OnCreated(id, std::move(*waiting), created);
                      }));
}

void Scheduler::Abandon(const std::string& id, Caller caller, const absl::Status& why) {
  const ActiveJob& job = jobs_.at(id);
  parts_.media.RemoveConditions(id, job.row.num_conditions);
  if (!job.row.request_id.empty()) {
    requests_[{job.row.tenant, job.row.request_id}].job.clear();
  }
  jobs_.erase(id);
  Refuse(std::move(caller), why);
  CheckDrained();
}

void Scheduler::OnCreated(const std::string& id, Caller caller, const absl::Status& status) {
  if (!status.ok()) return Abandon(id, std::move(caller), status);
  ActiveJob& job = jobs_.at(id);
  const RequestKey key{job.row.tenant, job.row.request_id};
  job.phase = Phase::kQueued;
  timers_.Set("deadline " + id, job.deadline);
  std::vector<std::string> active;
  int ahead = 0;
  for (const auto& [other_id, other] : jobs_) {
    if (other_id == id || !other.deciding()) continue;
    active.push_back(other.row.tenant);
    ahead += other.runnable() ? 1 : 0;
  }
  if (std::find(active.begin(), active.end(), job.row.tenant) == active.end()) {
    share_.Wake(job.row.tenant, active);
  }
  AddProgress(job, true, ahead, admission_.QueueWait(LoadFor(job.row.tenant)) - job.Left());
  caller.done(std::shared_ptr<Job>(job.log));
  if (closed_ && job.row.bound) EndByDrain(job);  // the server began to drain in between
  Answered(key);
  Pump();
  CheckDrained();
}

void Scheduler::Validate(NewJob job, Answer<Video> done) {
  auto checked = admission_.CheckRequest(job, random_() & 0xFFFFFFFF);
  if (!checked.ok()) return done(checked.status());
  const absl::Status load =
      admission_.CheckLoad(job, *checked, LoadFor(job.tenant), quarantine_, now(), 1);
  if (!load.ok()) return done(load);
  done(NewVideo(job, *checked, wall()));
}

void Scheduler::Estimate(NewJob job, Answer<CostEstimate> done) {
  auto checked = admission_.CheckRequest(job, random_() & 0xFFFFFFFF);
  if (!checked.ok()) return done(checked.status());
  const Load load = LoadFor(job.tenant);
  CostEstimate estimate;
  estimate.spec = checked->spec;
  for (model::Condition& condition : estimate.spec.conditions) condition.bytes.reset();
  estimate.queue = admission_.QueueWait(load);
  estimate.run_p50 = checked->cost.p50();
  estimate.run_p90 = std::max(checked->cost.p90(), estimate.run_p50);
  estimate.peak_memory_bytes = costs_.PeakMemory(checked->need.shape);
  estimate.device_seconds = absl::ToDoubleSeconds(estimate.run_p50);
  estimate.refusal = admission_.CheckLoad(job, *checked, load, quarantine_, now(), 1);
  estimate.queue_position = load.queued;
  estimate.latent_tokens = checked->need.shape.tokens();
  done(std::move(estimate));
}

}  // namespace reel::front
