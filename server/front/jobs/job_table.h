// SPDX-License-Identifier: Apache-2.0
// The live jobs, and the only place where a phase changes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "model/run_clock.h"
#include "server/front/jobs/blame.h"
#include "server/front/jobs/logged_job.h"
#include "server/front/jobs/state_pieces.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/jobs/video.h"
#include "server/front/scheduling/forecast.h"
#include "server/front/scheduling/planned_job.h"
#include "server/front/store/job_store.h"

namespace reel::front {

// One live job as the dispatcher's thread knows it.
// Times are of the monotonic clock.
struct ActiveJob : PlannedJob {
  using PlannedJob::PlannedJob;

  std::shared_ptr<LoggedJob> log;
  JobRow row;             // as the store has it, but for what the plan knows; without the video
  model::RunClock clock;  // at the worker as far as its reports tell, until it tells all

  absl::Duration first_media = absl::InfiniteDuration();
  absl::Duration stage_since, last_event;
  std::optional<Outlook> told;  // when it was let in, until its log has it
  // What was told of the time left when a fifth of it was done, and when.
  struct TimeLeft {
    absl::Duration told, at;
  };
  std::optional<TimeLeft> time_left;
  // Run time predicted at admission, or for the kind of device that it went to; zero: unknown.
  absl::Duration expected, expected_p90;

  int64_t condition_bytes = 0;  // files that were sent with it, or the state that it begins from
  std::shared_ptr<StatePieces> state;  // what its worker has sent of the state that it leaves
  int64_t reserved_bytes = 0;          // of its tenant's quota, for its own file

  Losses losses;
  bool streamed = false;    // a call was waiting for it when it was made
  uint32_t epoch = 0;       // of the claim by which it is this server's; 0: it is reserved
  bool told_start = false;  // its start was counted in the metrics
};

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

  // All of them, ordered by their ids. As addresses in a row, since every decision walks through
  // them several times.
  const std::vector<const ActiveJob*>& all() const { return all_; }
  std::vector<const PlannedJob*> Planned() const { return {all_.begin(), all_.end()}; }

  size_t size() const { return jobs_.size(); }
  auto begin() { return jobs_.begin(); }
  auto end() { return jobs_.end(); }
  auto begin() const { return jobs_.begin(); }
  auto end() const { return jobs_.end(); }

 private:
  void Note(ActiveJob& job, JobEvent event) const;
  std::vector<const ActiveJob*>::const_iterator PlaceOf(const std::string& id) const;

  const Clock& clock_;
  std::map<std::string, ActiveJob> jobs_;
  std::unordered_map<std::string_view, ActiveJob*> by_id_;  // the same
  std::vector<const ActiveJob*> all_;                       // the same
  int64_t added_ = 0;
  bool changed_ = false;
};

}  // namespace reel::front
