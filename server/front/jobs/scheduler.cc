// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/scheduler.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"

namespace reel::front {

static_assert(static_cast<int>(VideoState::kQueued) == static_cast<int>(RowState::kQueued));
static_assert(static_cast<int>(VideoState::kCancelled) == static_cast<int>(RowState::kCancelled));

Scheduler::Scheduler(const JobOptions& options, SchedulerParts parts,
                     std::function<void(Task)> post)
    : options_(options),
      parts_(parts),
      post_(std::move(post)),
      fleet_(options_),
      admission_(options_, fleet_, costs_),
      random_(std::random_device("/dev/urandom")()) {
  for (const auto& [tenant, of_tenant] : options_.tenants) {
    share_.SetWeight(tenant, of_tenant.weight);
  }
}

ActiveJob* Scheduler::FindActive(const std::string& id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

// Reports of an attempt that is over are of no interest.
ActiveJob* Scheduler::FindAttempt(const std::string& id, int attempt) {
  ActiveJob* job = FindActive(id);
  return job != nullptr && job->row.attempt == attempt ? job : nullptr;
}

void Scheduler::Save(ActiveJob& job, Durability durability, JobStore::Done done) {
  JobRow row = job.row;
  row.video = parts_.serializer.Serialize(job.log->Snapshot());
  parts_.store.Update(std::move(row), durability, std::move(done));
}

absl::StatusOr<std::shared_ptr<LoggedJob>> Scheduler::ReadBack(const JobRow& row) const {
  REEL_ASSIGN_OR_RETURN(Video video, parts_.serializer.Parse(row.video));
  video.tenant = row.tenant;
  return LoggedJob::FromStore(std::move(video), row, parts_.media);
}

Load Scheduler::LoadFor(const std::string& tenant) const {
  Load load;
  load.draining = closed_;
  for (const auto& [id, job] : jobs_) {
    if (!job.deciding()) continue;
    load.backlog += job.Left();
    load.queued += job.at_worker() ? 0 : 1;
    load.tenant_jobs += job.row.tenant == tenant ? 1 : 0;
  }
  load.tenant_stored_bytes = ledger_.stored(tenant);
  load.tenant_device_seconds = ledger_.DeviceSecondsOfHour(tenant, now());
  load.disk = parts_.media.Usage();
  return load;
}

absl::Status Scheduler::EndError(const ActiveJob& job, Reason reason,
                                 std::string_view message) const {
  ErrorDetails details;
  details.metadata = {{"video", absl::StrCat("videos/", job.id())},
                      {"steps_done", absl::StrCat(job.step)},
                      {"steps", absl::StrCat(job.need.shape.steps())}};
  return MakeError(reason, message, details);
}

void Scheduler::ReportGauges() {
  QueueGauges gauges;
  for (const auto& [id, job] : jobs_) {
    if (!job.deciding()) continue;
    (job.at_worker() ? gauges.running : gauges.queued) += 1;
    gauges.backlog_seconds += absl::ToDoubleSeconds(job.Left());
  }
  gauges.capacity_seconds = options_.max_backlog_seconds * fleet_.NumReady();
  const DiskUsage disk = parts_.media.Usage();
  gauges.stored_bytes = disk.stored_bytes;
  gauges.stored_limit_bytes = disk.limit_bytes;
  parts_.observer.Gauges(gauges);
}

}  // namespace reel::front
