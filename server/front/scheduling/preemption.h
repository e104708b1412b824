// SPDX-License-Identifier: Apache-2.0
// Chooses the running jobs that a worker should park for a newcomer. Then that one meets its
// deadline, or does not wait for much longer jobs, or for tenants who have had more than its own.
// Pure.
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

// A job is parked so often at most.
inline constexpr int kMostPreemptions = 3;
// Of all that are parked at a worker, wherever their states are.
inline constexpr int64_t kMostParkedBytes = int64_t{8} << 30;

// The work that workers have begun and the device time that its tenants have had, for one look at
// the queue. It is computed once for each worker and tenant, however many jobs are compared with
// it. The state outlives it.
class BegunWork {
 public:
  struct Tenant {
    std::string_view name;
    double weight = 1;
    // See FairShare; and without what it was charged in advance.
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
    bool ran_enough = false;  // or waits for one that has
    bool may_park = false;    // for somebody, once it has run enough
  };
  struct Work {
    std::vector<Job> jobs;
    size_t moving = 0;       // how many are not parked
    int64_t rows = 0;        // of those
    bool is_closed = false;  // nobody can be parked there
    bool may_park = false;   // any of them
    bool has_parked = false;
    // What its steps are of, of jobs that are gone here as well: the first one, and whether the
    // others are of its model and plan.
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
  // These are to be parked there, and count as parked from here on.
  void Park(const PlannedWorker& worker, absl::Span<const std::string> ids);
  bool is_parked(const std::string& id) const { return parked_.contains(id); }

 private:
  Work Gather(const PlannedWorker& worker);
  void FreeThoseWhoWait(const PlannedWorker& worker, Work& work) const;
  void GatherUnused();

  const State& state_;
  const absl::Duration now_;
  std::map<const PlannedWorker*, Work> work_;
  std::unordered_map<std::string_view, Tenant> tenants_;  // by names of jobs
  // Of what tenants were charged in advance, by tenant.
  std::optional<std::unordered_map<std::string_view, absl::Duration>> unused_;
  std::set<std::string, std::less<>> parked_;
};

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

// A job that a worker has begun.
struct BegunJob {
  absl::Duration left;  // p90
  absl::Duration deadline;
  bool parked = false;
  bool may_park = false;
  bool had_more = false;  // its tenant, than the newcomer's
  // Its tenant has had less: it makes way only for an admitted job that would be late, and once.
  bool only_for_deadline = false;
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
  // Was promised its deadline. Tenants who came later and had less would otherwise break that.
  bool admitted = false;
};

// Of one look at the state, which outlives it.
class Preemption {
 public:
  Preemption(const State& state, absl::Duration now)
      : state_(state), now_(now), begun_(state, now) {}

  // Those that the worker should park now; `ahead`: of the newcomer, among what waits.
  // `soon`: those too that have not run their least yet.
  std::vector<std::string> Victims(const Newcomer& newcomer, const PlannedWorker& worker,
                                   absl::Duration ahead, bool soon = false);
  // Whether it has anybody who could be parked for somebody.
  bool HasVictims(const PlannedWorker& worker);
  // Those that the worker should park now, since they share the steps of one that runs there and
  // their tenant has had more.
  std::vector<std::string> Company(const PlannedJob& running, const PlannedWorker& worker);
  // Workers where a video of its own tenant is parked for another, and goes on before it.
  WorkerTable::Names ClosedTo(const PlannedJob& job);
  // The time that it takes longer than alone at a worker that would take it now. At an idle one
  // that is nothing; where it shares steps, the time of the others' rows in its steps. nullopt: no
  // such worker, or one of the others would miss its deadline for it.
  std::optional<absl::Duration> WaitBeside(const Newcomer& newcomer,
                                           absl::Span<const KindCost> kinds);
  // Whether the tenant has had more than the newcomer's; not of its own.
  bool HadMore(const Newcomer& newcomer, std::string_view tenant) {
    return HadMore(newcomer, begun_.Of(newcomer.waiting.tenant), begun_.Of(tenant));
  }
  // Also one that is to be parked.
  bool IsParked(const std::string& id, const HeldJob& held) const {
    return held.parked() || begun_.is_parked(id);
  }
  // These are to be parked there, and count as parked from here on.
  void Park(const PlannedWorker& worker, absl::Span<const std::string> ids) {
    begun_.Park(worker, ids);
  }

 private:
  // The same jobs, as this one sees them; empty: it may park none of them. `for_share`: only by
  // what tenants have had.
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
