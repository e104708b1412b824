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

// A live job as the dispatcher's thread knows it. Times are monotonic.
struct ActiveJob : PlannedJob {
  using PlannedJob::PlannedJob;

  std::shared_ptr<LoggedJob> log;
  JobRow row;             // as the store has it, but for what the plan knows; without the video
  model::RunClock clock;  // at the worker, estimated from its reports until the final one

  absl::Duration first_media = absl::InfiniteDuration();
  absl::Duration stage_since, last_event;
  std::optional<Outlook> told;  // at admission, until its log has it
  // The remaining time reported at a fifth of the run, and when.
  struct TimeLeft {
    absl::Duration told, at;
  };
  std::optional<TimeLeft> time_left;
  // Run time predicted at admission, or for the kind of device that it went to; zero if unknown.
  absl::Duration expected, expected_p90;

  int64_t condition_bytes = 0;         // of its files, or of the state that it starts from
  std::shared_ptr<StatePieces> state;  // received pieces of the state that it leaves
  int64_t reserved_bytes = 0;          // of its tenant's quota, for its own file

  Losses losses;
  bool streamed = false;    // a call was waiting for it when it was made
  uint32_t epoch = 0;       // of the claim by which it is this server's; 0: it is reserved
  bool told_start = false;  // its start was counted in the metrics
};

// Confined to one thread. Jobs keep their address until they are removed.
class JobTable {
 public:
  // `clock` outlives the table.
  explicit JobTable(const Clock& clock) : clock_(clock) {}

  ActiveJob& Add(ActiveJob job);
  void Remove(const std::string& id);

  ActiveJob* Find(const std::string& id);
  // Null if the attempt is over.
  ActiveJob* FindAttempt(const std::string& id, int attempt);
  // The job, if it is within the caller's reach and in its log.
  ActiveJob* FindOf(const Reach& reach, const std::string& id);
  // For a job that is known to exist.
  ActiveJob& Get(const std::string& id) { return jobs_.at(id); }

  // nullopt if the event does not apply in this phase; nothing changes then.
  std::optional<Release> Apply(ActiveJob& job, JobEvent event);

  // Marks another change that affects who runs next or what a drain waits for.
  void MarkChanged() { changed_ = true; }
  // Whether anything has changed since the last call.
  bool TakeChanged() { return std::exchange(changed_, false); }
  bool changed() const { return changed_; }

  // All jobs, ordered by id. A vector of pointers, since every decision walks through it several
  // times.
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
