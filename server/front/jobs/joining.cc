// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/joining.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

absl::Status Conflict(const std::string& request_id, const std::string& id) {
  ErrorDetails details;
  details.metadata = {{"request_id", request_id}, {"video", absl::StrCat("videos/", id)}};
  details.resource_type = "video";
  details.resource_name = absl::StrCat("videos/", id);
  return MakeError(
      Reason::kRequestIdConflict,
      absl::StrCat("The request id was used for a video with a different spec: videos/", id),
      details);
}

absl::Status Expired(const std::string& request_id) {
  ErrorDetails details;
  details.metadata = {{"request_id", request_id}};
  details.resource_type = "video";
  details.resource_name = request_id;
  return MakeError(Reason::kVideoExpired, "The video of this request id was removed", details);
}

}  // namespace

Joining::Joining(JobTable& jobs, JobRecords& records, RequestTable& requests, Creation& creation,
                 TimerQueue& timers, JobObserver& observer)
    : jobs_(jobs),
      records_(records),
      requests_(requests),
      creation_(creation),
      timers_(timers),
      observer_(observer) {}

void Joining::Create(Caller caller) {
  if (caller.request.request_id.empty()) return creation_.Admit(std::move(caller));
  requests_.Add(std::move(caller));
}

void Joining::ServeDue() {
  for (const RequestKey& key : requests_.TakeDue()) Serve(key);
}

void Joining::Serve(const RequestKey& key) {
  RequestTable::Request* request = requests_.Find(key);
  if (request == nullptr) return;
  while (!request->busy && !request->callers.empty()) {
    ActiveJob* job = jobs_.Find(request->job);
    if (job == nullptr) {
      request->busy = true;
      return records_.FindRequest(
          key.first, key.second,
          [this, key](const absl::StatusOr<RequestRecord>& record) { OnRecord(key, record); });
    }
    // What becomes of it decides whether its id is free again.
    if (job->phase() == Phase::kCreating || job->phase() == Phase::kEnding) return;
    // The row of its success may be on its way already, and nothing may be written after that.
    const bool detaches = job->row.bound && !request->callers.front().request.bound;
    if (detaches && job->phase() == Phase::kFinishing) return;
    Join(*job, request->TakeFirst());
  }
  if (!request->busy && request->job.empty() && request->callers.empty()) requests_.Forget(key);
}

void Joining::OnRecord(const RequestKey& key, const absl::StatusOr<RequestRecord>& record) {
  Caller caller = requests_.Find(key)->TakeFirst();
  if (!record.ok()) return creation_.Refuse(std::move(caller), record.status());
  if (!record->row) {
    if (record->tombstone) return creation_.Refuse(std::move(caller), Expired(key.second));
    return creation_.Admit(std::move(caller));
  }
  if (record->row->spec_hash != caller.spec_hash) {
    return creation_.Refuse(std::move(caller), Conflict(key.second, record->row->id));
  }
  auto stored = records_.ReadBack(*record->row);
  if (absl::IsNotFound(stored.status())) {
    return creation_.Refuse(std::move(caller), Expired(key.second));
  }
  if (stored.ok()) {
    caller.done(std::shared_ptr<Job>(*std::move(stored)));
  } else {
    caller.done(stored.status());
  }
  requests_.Answered(key);
}

void Joining::Join(ActiveJob& job, Caller caller) {
  if (job.row.spec_hash != caller.spec_hash) {
    const absl::Status conflict = Conflict(job.row.request_id, job.id());
    observer_.JobRefused(conflict, !caller.request.bound);
    return caller.done(conflict);
  }
  job.waits_for_owner = false;
  timers_.Clear({TimerKind::kRejoin, job.id()});
  jobs_.MarkChanged();
  if (!caller.request.bound && job.row.bound) return Detach(job, std::move(caller));
  if (job.row.bound) ++job.bound_calls;
  caller.done(std::shared_ptr<Job>(job.log));
}

// For good, and before anybody is told.
void Joining::Detach(ActiveJob& job, Caller caller) {
  records_.Record(job, RowDetached{},
                  [done = std::move(caller.done),
                   joined = std::shared_ptr<Job>(job.log)](const absl::Status& saved) mutable {
                    if (saved.ok()) {
                      done(std::move(joined));
                    } else {
                      done(saved);
                    }
                  });
}

}  // namespace reel::front
