// SPDX-License-Identifier: Apache-2.0
// Which running jobs a worker should park, so that one that came later meets its deadline, or does
// not wait for what is many times as long as itself, or for tenants who have had more than its own.
// Changes nothing; parking.h acts on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/fleet.h"
#include "server/front/jobs/job_options.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/queue_order.h"

namespace reel::front {

// A job is parked so often at most.
inline constexpr int kMostPreemptions = 3;
// Since it began, or was resumed, it has run so much before it is parked.
inline constexpr int kLeastStepsRun = 1;
inline constexpr absl::Duration kLeastTimeRun = absl::Milliseconds(200);
// What is left of a job that is parked for a short one, in runs of that one.
inline constexpr int kWorthParking = 4;
// The same of one whose tenant has had more: who has had less waits for no more than this part of
// its own run.
inline constexpr double kWorthParkingOfMore = 0.25;
// A tenant has had more if it is ahead by a run of the newcomer, or so long, which a tenant that
// was idle is given.
inline constexpr absl::Duration kHadMore = absl::Seconds(5);
// Of each worker, at a time, wherever their states are.
inline constexpr size_t kMostParked = 4;
// Of those that would share the steps of one whose tenant has had less, which small ones do.
inline constexpr size_t kMostParkedForShare = 16;
inline constexpr int64_t kMostParkedBytes = int64_t{8} << 30;

// A job that a worker has begun.
struct BegunJob {
  absl::Duration left;  // p90
  absl::Duration deadline;
  bool parked = false;
  bool may_park = false;
  bool had_more = false;  // its tenant, than the newcomer's
};

// What another must have done by its deadline: its own run, and what goes before it in any case.
struct Urgent {
  absl::Duration needs;  // p90
  absl::Duration deadline;
};

// All of `begun` that are long beside it, by whose they are; or else the fewest that must be parked
// for its deadline, the one with the most slack first. None: it meets its deadline anyway, or
// misses it anyway, or one that is parked would miss its own. `together`: they share their steps.
std::vector<size_t> WhomToPark(absl::Span<const BegunJob> begun, bool together,
                               const Urgent& urgent, absl::Duration now);

// Of those that would share its steps: all whose tenant has had more. Together they would take as
// long as all of them do in turn; so who has had less has the device for its share.
std::vector<size_t> WhomToLeave(absl::Span<const BegunJob> begun, const Urgent& urgent,
                                absl::Duration now);

// A job that has not begun, or is only asked about.
struct Newcomer {
  Waiting waiting;
  const Need& need;
  absl::Duration advance;  // what its tenant is charged for it already
};

// Confined to the dispatcher's thread. What it is given outlives it.
class Preemption {
 public:
  Preemption(JobTable& jobs, const Fleet& fleet, const FairShare& share, const JobOptions& options,
             const Clock& clock)
      : jobs_(jobs), fleet_(fleet), share_(share), options_(options), clock_(clock) {}

  // Those that the worker should park now; `ahead`: of the newcomer, among what waits.
  // `soon`: those too that have not run their least yet.
  std::vector<std::string> Victims(const Newcomer& newcomer, const FleetWorker& worker,
                                   absl::Duration ahead, bool soon = false) const;
  // Those that the worker should park now, since they share the steps of one that runs there and
  // their tenant has had more.
  std::vector<std::string> Company(const ActiveJob& running, const FleetWorker& worker) const;
  // Of one tenant, by the rules of its queue.
  bool IsBehind(const ActiveJob& job, const ActiveJob& begun) const;
  // At any worker that could run it; what is left of them.
  absl::Duration TimeSaved(const Newcomer& newcomer, absl::Duration ahead) const;

 private:
  // What a worker has begun.
  struct Begun {
    std::vector<std::string> ids;
    std::vector<BegunJob> jobs;  // in the same order
    size_t moving = 0;           // how many are not parked
    int64_t rows = 0;            // of those
    bool is_closed = false;      // nobody can be parked there
    std::vector<std::string> Ids(absl::Span<const size_t> of) const;
  };
  Begun BegunAt(const FleetWorker& worker, const Newcomer& newcomer, bool soon) const;
  bool GoesBefore(const Newcomer& newcomer, const ActiveJob& other) const;
  bool RunsBeforeRest(const Waiting& job, const ActiveJob& begun) const;
  using UsedTimes = std::map<std::string_view, double>;  // by tenant, of those asked for so far
  bool HadMore(const ActiveJob& other, const Newcomer& newcomer, UsedTimes& used) const;
  // For its weight, without what it was charged in advance.
  double UsedBy(std::string_view tenant) const;
  bool SharesSteps(const Need& need, int64_t rows, const FleetWorker& worker) const;

  JobTable& jobs_;
  const Fleet& fleet_;
  const FairShare& share_;
  const JobOptions& options_;
  const Clock& clock_;
};

}  // namespace reel::front
