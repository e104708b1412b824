// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/job_table.h"

#include <algorithm>

namespace reel::front {

ActiveJob& JobTable::Add(ActiveJob job) {
  changed_ = true;
  job.number = ++added_;
  const bool is_reserved = job.phase() == Phase::kReserved;
  job.clock.Enter(is_reserved ? model::RunPart::kAccept : model::RunPart::kQueue, job.last_event);
  std::string id = job.id;
  const auto [added, is_new] = jobs_.emplace(std::move(id), std::move(job));
  if (is_new) {
    by_id_.emplace(added->first, &added->second);
    all_.insert(PlaceOf(added->first), &added->second);
  }
  return added->second;
}

void JobTable::Remove(const std::string& id) {
  changed_ = true;
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  by_id_.erase(found->first);
  all_.erase(PlaceOf(id));
  jobs_.erase(found);
}

ActiveJob* JobTable::Find(const std::string& id) {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

ActiveJob* JobTable::FindAttempt(const std::string& id, int attempt) {
  ActiveJob* job = Find(id);
  return job != nullptr && job->attempt == attempt ? job : nullptr;
}

std::vector<const ActiveJob*>::const_iterator JobTable::PlaceOf(const std::string& id) const {
  return std::lower_bound(
      all_.begin(), all_.end(), id,
      [](const ActiveJob* job, const std::string& other) { return job->id < other; });
}

ActiveJob* JobTable::FindOf(const Reach& reach, const std::string& id) {
  ActiveJob* job = Find(id);
  const bool known =
      job != nullptr && reach.Covers(job->tenant) && job->phase() != Phase::kReserved;
  return known ? job : nullptr;
}

std::optional<Release> JobTable::Apply(ActiveJob& job, JobEvent event) {
  const std::optional<PhaseChange> change = Next(job.phase(), event);
  if (!change) return std::nullopt;
  job.life.phase_ = change->next;
  changed_ = true;
  Note(job, event);
  return change->release;
}

void JobTable::Note(ActiveJob& job, JobEvent event) const {
  const absl::Duration now = clock_.Monotonic();
  switch (event) {
    case JobEvent::kPlaced:
      return job.clock.Enter(model::RunPart::kHandover, now);
    case JobEvent::kUnsent:
    case JobEvent::kRestarted:
      job.clock.LoseAttempt(now);
      return job.clock.Enter(model::RunPart::kQueue, now);
    case JobEvent::kRendered:
      return job.clock.Enter(model::RunPart::kFile, now);
    case JobEvent::kSent:
    case JobEvent::kSpoiled:
    case JobEvent::kFailed:
    case JobEvent::kEnded:
      return;
  }
}

}  // namespace reel::front
