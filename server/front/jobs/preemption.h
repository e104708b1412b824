// SPDX-License-Identifier: Apache-2.0
// Chooses the running jobs that a worker should park for a newcomer. Then that one meets its
// deadline, or does not wait for much longer jobs, or for tenants who have had more than its own.
// Changes nothing; parking.h acts on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/front/jobs/begun_work.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/fleet.h"
#include "server/front/jobs/job_options.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/queue_order.h"
#include "server/front/jobs/worker_costs.h"

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

// Of one look at what waits, in whose course time stands still. Confined to the dispatcher's
// thread.
class Preemption {
 public:
  // What it works with; all of it outlives it.
  struct Parts {
    JobTable& jobs;
    const Fleet& fleet;
    const FairShare& share;
    const JobOptions& options;
    const Clock& clock;
  };
  explicit Preemption(const Parts& parts);

  // Those that the worker should park now; `ahead`: of the newcomer, among what waits.
  // `soon`: those too that have not run their least yet.
  std::vector<std::string> Victims(const Newcomer& newcomer, const FleetWorker& worker,
                                   absl::Duration ahead, bool soon = false);
  // Whether it has anybody who could be parked for somebody.
  bool HasVictims(const FleetWorker& worker);
  // Those that the worker should park now, since they share the steps of one that runs there and
  // their tenant has had more.
  std::vector<std::string> Company(const ActiveJob& running, const FleetWorker& worker);
  // Workers where a video of its own tenant is parked for another, and goes on before it.
  Fleet::Names ClosedTo(const ActiveJob& job);
  // At any worker that could run it; what is left of them. `kinds`: what it takes on each; see
  // worker_costs.h.
  absl::Duration TimeSaved(const Newcomer& newcomer, absl::Span<const KindCost> kinds,
                           absl::Duration ahead);
  // The time that it takes longer than alone at a worker that would take it now. At an idle one
  // that is nothing; where it shares steps, the time of the others' rows in its steps. nullopt: no
  // such worker, or one of the others would miss its deadline for it.
  std::optional<absl::Duration> WaitBeside(const Newcomer& newcomer,
                                           absl::Span<const KindCost> kinds);
  // A job was taken or parked there in the meantime.
  void Forget(const FleetWorker& worker) { begun_.Forget(worker); }

 private:
  // The same jobs, as this one sees them; empty: it may park none of them. `for_share`: only by
  // what tenants have had.
  std::vector<BegunJob> Compare(const Newcomer& newcomer, const BegunWork::Work& work, bool soon,
                                bool for_share);
  bool GoesBefore(const Newcomer& newcomer, BegunWork::Tenant& mine, const BegunWork::Job& other);
  bool HadMore(const Newcomer& newcomer, BegunWork::Tenant& mine, const BegunWork::Job& other);
  bool SharesSteps(const Need& need, int64_t rows, const FleetWorker& worker);
  std::optional<absl::Duration> TimeBeside(const Newcomer& newcomer, const FleetWorker& worker);

  const Parts parts_;
  const absl::Duration now_;
  BegunWork begun_;
};

}  // namespace reel::front
