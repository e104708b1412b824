// SPDX-License-Identifier: Apache-2.0
// Chooses the running jobs that a worker should park for a newcomer. Then that one meets its
// deadline, or does not wait for much longer jobs, or for tenants who have had more than its own.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/front/scheduling/begun_work.h"
#include "server/front/scheduling/queue_order.h"
#include "server/front/scheduling/state.h"
#include "server/front/scheduling/worker_costs.h"

namespace reel::front {

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
  std::vector<std::string> Victims(const Newcomer& newcomer, const FleetWorker& worker,
                                   absl::Duration ahead, bool soon = false);
  // Whether it has anybody who could be parked for somebody.
  bool HasVictims(const FleetWorker& worker);
  // Those that the worker should park now, since they share the steps of one that runs there and
  // their tenant has had more.
  std::vector<std::string> Company(const PlannedJob& running, const FleetWorker& worker);
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
  void Park(const FleetWorker& worker, absl::Span<const std::string> ids) {
    begun_.Park(worker, ids);
  }

 private:
  // The same jobs, as this one sees them; empty: it may park none of them. `for_share`: only by
  // what tenants have had.
  std::vector<BegunJob> Compare(const Newcomer& newcomer, const BegunWork::Work& work, bool soon,
                                bool for_share);
  bool GoesBefore(const Newcomer& newcomer, BegunWork::Tenant& mine, const BegunWork::Job& other);
  bool HadMore(const Newcomer& newcomer, BegunWork::Tenant& mine, BegunWork::Tenant& other);
  bool SharesSteps(const Need& need, int64_t rows, const FleetWorker& worker);
  std::optional<absl::Duration> TimeBeside(const Newcomer& newcomer, const FleetWorker& worker);

  const State& state_;
  const absl::Duration now_;
  BegunWork begun_;
};

}  // namespace reel::front
