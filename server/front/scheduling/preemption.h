// SPDX-License-Identifier: Apache-2.0
// Chooses the running jobs that a worker should park for a newcomer. It then meets its deadline, or
// does not wait for much longer jobs, or for tenants who have had more. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/front/scheduling/queue_order.h"
#include "server/front/scheduling/state.h"
#include "server/front/scheduling/work_shape.h"
#include "server/front/scheduling/worker_costs.h"

namespace reel::front {

// Limit of how often a job is parked.
inline constexpr int kMostPreemptions = 3;
// Limit of all parked states of a worker, on the host or on the device.
inline constexpr int64_t kMostParkedBytes = int64_t{8} << 30;

// Caches the started work of each worker and the device time of each tenant for one decision, in
// which many jobs are compared with them. The state outlives it.
class BegunWork {
 public:
  struct Tenant {
    std::string_view name;
    double weight = 1;
    // See FairShare; `used` excludes advance charges.
    std::optional<double> virtual_time, used;
  };
  struct Job {
    const std::string* id = nullptr;
    const PlannedJob* job = nullptr;
    Tenant* tenant = nullptr;
    absl::Duration left;  // p90
    RunKey rest;          // as if what is left of it were all
    double order_key = 0;
    bool parked = false;
    bool ran_enough = false;  // or waits for a job that has
    bool may_park = false;    // for somebody, once it has run enough
  };
  struct Work {
    std::vector<Job> jobs;
    size_t moving = 0;       // how many are not parked
    int64_t rows = 0;        // of those
    bool is_closed = false;  // nothing can be parked there
    bool may_park = false;   // any of them
    bool has_parked = false;
    // The first job of its steps, also of jobs that have gone, and whether all others have its
    // model and plan.
    const WorkShape* stepped = nullptr;
    bool is_alike = true;
    size_t num_stepped = 0;
    int64_t stepped_rows = 0;
  };

  BegunWork(const State& state, absl::Duration now) : state_(state), now_(now) {}

  const Work& At(const PlannedWorker& worker);
  Tenant& Of(std::string_view tenant);
  double VirtualTime(Tenant& tenant) const;
  double Used(Tenant& tenant);
  // Marks jobs as parked there, for the rest of the decision.
  void Park(const PlannedWorker& worker, absl::Span<const std::string> ids);
  bool is_parked(const std::string& id) const { return parked_.contains(id); }

 private:
  Work Gather(const PlannedWorker& worker);
  void FreeThoseWhoWait(const PlannedWorker& worker, Work& work) const;
  void GatherUnused();

  const State& state_;
  const absl::Duration now_;
  std::map<const PlannedWorker*, Work> work_;
  std::unordered_map<std::string_view, Tenant> tenants_;  // by job
  // Unused advance charges by tenant.
  std::optional<std::unordered_map<std::string_view, absl::Duration>> unused_;
  std::set<std::string, std::less<>> parked_;
};

// A job runs at least this much after its start or resumption before it is parked.
inline constexpr int kLeastStepsRun = 1;
inline constexpr absl::Duration kLeastTimeRun = absl::Milliseconds(200);
// A job is parked for a short one only if this many of its runs remain.
inline constexpr int kWorthParking = 4;
// The same for a job whose tenant has had more: the other waits for at most this share of its own
// run.
inline constexpr double kWorthParkingOfMore = 0.25;
// A tenant has had more if it is ahead by a run of the newcomer, or by this much, which an idle
// tenant is granted.
inline constexpr absl::Duration kHadMore = absl::Seconds(5);
// Limit of parked jobs per worker.
inline constexpr size_t kMostParked = 4;
// The same for jobs that would share steps with a tenant that has had less; those are small.
inline constexpr size_t kMostParkedForShare = 16;

// A job that a worker has started.
struct BegunJob {
  absl::Duration left;  // p90
  absl::Duration deadline;
  bool parked = false;
  bool may_park = false;
  bool had_more = false;  // its tenant has had more than the newcomer's
  // Its tenant has had less: it is parked only for an admitted job that would be late, and only
  // once.
  bool only_for_deadline = false;
};

// Work that must run before a deadline: the job itself, and the work before it that cannot be
// parked.
struct Urgent {
  absl::Duration needs;  // p90
  absl::Duration deadline;
};

// Returns all of `begun` that are long beside it; else the fewest to park for its deadline, those
// with the most slack first. Empty if it meets or misses its deadline anyway, or a parked job would
// miss its own. `together`: whether they share their steps.
std::vector<size_t> WhomToPark(absl::Span<const BegunJob> begun, bool together,
                               const Urgent& urgent, absl::Duration now);

// Returns the jobs whose tenants have had more, among those that would share its steps. Sharing
// would take as long as running all in turn, so the tenant that has had less gets the device for
// its share.
std::vector<size_t> WhomToLeave(absl::Span<const BegunJob> begun, const Urgent& urgent,
                                absl::Duration now);

// A job that has not started, or is only asked about.
struct Newcomer {
  Waiting waiting;
  const Need& need;
  absl::Duration advance;  // what its tenant was charged already
  // Its deadline was promised, and must hold against tenants that came later and have had less.
  bool admitted = false;
};

// Chooses for one decision. The state outlives it.
class Preemption {
 public:
  Preemption(const State& state, absl::Duration now)
      : state_(state), now_(now), begun_(state, now) {}

  // The jobs to park at the worker now. `ahead`: waiting work before the newcomer. `soon`: includes
  // jobs that have not run their minimum yet.
  std::vector<std::string> Victims(const Newcomer& newcomer, const PlannedWorker& worker,
                                   absl::Duration ahead, bool soon = false);
  // Whether any job there could be parked for some newcomer.
  bool HasVictims(const PlannedWorker& worker);
  // The jobs to park now because they share steps with `running` and their tenants have had more.
  std::vector<std::string> Company(const PlannedJob& running, const PlannedWorker& worker);
  // Workers where a parked job of the same tenant must resume first.
  WorkerTable::Names ClosedTo(const PlannedJob& job);
  // How much longer than alone the newcomer takes at a worker with room: zero at an idle one, else
  // the time of the other rows in its steps. nullopt if there is no such worker, or another job
  // would miss its deadline.
  std::optional<absl::Duration> WaitBeside(const Newcomer& newcomer,
                                           absl::Span<const KindCost> kinds);
  // Whether another tenant has had more than the newcomer's.
  bool HadMore(const Newcomer& newcomer, std::string_view tenant) {
    return HadMore(newcomer, begun_.Of(newcomer.waiting.tenant), begun_.Of(tenant));
  }
  // Includes jobs marked to be parked.
  bool IsParked(const std::string& id, const HeldJob& held) const {
    return held.parked() || begun_.is_parked(id);
  }
  // These are to be parked there, and count as parked from here on.
  void Park(const PlannedWorker& worker, absl::Span<const std::string> ids) {
    begun_.Park(worker, ids);
  }

 private:
  // The worker's jobs as compared with the newcomer; empty if it may park none. `for_share`:
  // compares shares of tenants only.
  std::vector<BegunJob> Compare(const Newcomer& newcomer, const BegunWork::Work& work, bool soon,
                                bool for_share);
  bool GoesBefore(const Newcomer& newcomer, BegunWork::Tenant& mine, const BegunWork::Job& other);
  bool HadMore(const Newcomer& newcomer, BegunWork::Tenant& mine, BegunWork::Tenant& other);
  bool SharesSteps(const Need& need, int64_t rows, const PlannedWorker& worker);
  std::optional<absl::Duration> TimeBeside(const Newcomer& newcomer, const PlannedWorker& worker);

  const State& state_;
  const absl::Duration now_;
  BegunWork begun_;
};

}  // namespace reel::front
