// SPDX-License-Identifier: Apache-2.0
// The live jobs, and the only place where a phase changes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server/front/jobs/active_job.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/reach.h"

namespace reel::front {

// Confined to one thread. Jobs stay where they are until they are removed.
class JobTable {
 public:
  // Tells the clocks of jobs; outlives the table.
  explicit JobTable(const Clock& clock) : clock_(clock) {}

  ActiveJob& Add(ActiveJob job);
  void Remove(const std::string& id);

  ActiveJob* Find(const std::string& id);
  // Reports of an attempt that is over are of no interest.
  ActiveJob* FindAttempt(const std::string& id, int attempt);
  // A job that a caller may know of: within its reach, and in its log.
  ActiveJob* FindOf(const Reach& reach, const std::string& id);
  // One that is known to be there.
  ActiveJob& Get(const std::string& id) { return jobs_.at(id); }

  // nullopt: the event comes too late or too early, and nothing has changed.
  std::optional<Release> Apply(ActiveJob& job, JobEvent event);

  // Something else changed that decides who runs next or what a drain waits for.
  void MarkChanged() { changed_ = true; }
  // Whether anything has changed since it was asked last.
  bool TakeChanged() { return std::exchange(changed_, false); }
  bool changed() const { return changed_; }

  // All of them, ordered by their ids.
  std::vector<const PlannedJob*> Planned() const;

  size_t size() const { return jobs_.size(); }
  auto begin() { return jobs_.begin(); }
  auto end() { return jobs_.end(); }
  auto begin() const { return jobs_.begin(); }
  auto end() const { return jobs_.end(); }

 private:
  void Note(ActiveJob& job, JobEvent event) const;

  const Clock& clock_;
  std::map<std::string, ActiveJob> jobs_;
  std::unordered_map<std::string_view, ActiveJob*> by_id_;  // the same
  int64_t added_ = 0;
  bool changed_ = false;
};

}  // namespace reel::front
