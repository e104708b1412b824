// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/job_table.h"

namespace reel::front {

ActiveJob& JobTable::Add(ActiveJob job) {
  changed_ = true;
  job.number = ++added_;
  std::string id = job.id();
  return jobs_.emplace(std::move(id), std::move(job)).first->second;
}

void JobTable::Remove(const std::string& id) {
  changed_ = true;
  jobs_.erase(id);
}

ActiveJob* JobTable::Find(const std::string& id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

ActiveJob* JobTable::FindAttempt(const std::string& id, int attempt) {
  ActiveJob* job = Find(id);
  return job != nullptr && job->row.attempt == attempt ? job : nullptr;
}

ActiveJob* JobTable::FindOf(const Reach& reach, const std::string& id) {
  ActiveJob* job = Find(id);
  const bool known =
      job != nullptr && reach.Covers(job->row.tenant) && job->phase() != Phase::kCreating;
  return known ? job : nullptr;
}

std::optional<Release> JobTable::Apply(ActiveJob& job, JobEvent event) {
  const std::optional<PhaseChange> change = Next(job.phase(), event);
  if (!change) return std::nullopt;
  job.life.phase_ = change->next;
  changed_ = true;
  return change->release;
}

}  // namespace reel::front
