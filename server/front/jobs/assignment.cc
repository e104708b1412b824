// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/assignment.h"

#include <algorithm>
#include <set>
#include <utility>

#include "server/front/jobs/look_costs.h"
#include "server/front/jobs/place_choice.h"
#include "server/front/jobs/places.h"
#include "server/front/jobs/run_order.h"

namespace reel::front {
namespace {

// So many of those that find no room may have others parked for them; whoever has little time left
// is among the first of its tenant.
constexpr int kMostAsked = 16;

}  // namespace

void Assigner::EndHopeless() {
  const auto& workers = parts_.fleet.workers();
  const bool any_out = std::any_of(workers.begin(), workers.end(), [](const auto& entry) {
    return entry.second.info.state == WorkerState::kOut;
  });
  if (!any_out) return;
  for (auto& [id, job] : parts_.jobs) {
    if (job.phase() != Phase::kQueued || !parts_.fleet.Hopeless(job.need)) continue;
    parts_.endings.Fail(
        job, JobEvent::kEnded,
        Endings::ErrorOf(job, Reason::kNoDevice,
                         "Every device that could run the video is out of service"));
  }
}

void Assigner::Pump() {
  EndHopeless();
  parts_.parking.ResumeDue();
  RunQueue queue(parts_.jobs, parts_.share, parts_.options.fifo, parts_.clock.Monotonic());
  Preemption preemption(parts_.preemption);
  const std::vector<ActiveJob*> placed = Place(queue, preemption);
  const std::vector<ActiveJob*> order = queue.AtWorkers();
  // Before the newcomers arrive: what they pass must not begin in between.
  parts_.slots.Arrange(order);
  parts_.parking.ParkFor(order, preemption);
  for (ActiveJob* job : placed) Assign(*job);
}

std::vector<ActiveJob*> Assigner::Place(RunQueue& queue, Preemption& preemption) {
  Fleet& fleet = parts_.fleet;
  std::vector<ActiveJob*> placed;
  Fleet::Passed passed;
  for (const ActiveJob* job : queue.jobs()) {
    if (job->at_worker()) passed.insert(job->id());
  }
  int asked = 0;
  Fleet::Names closed;           // to those that come later: it waits for their memory
  std::set<std::string> wanted;  // models of those that come before
  LookCosts costs(fleet, parts_.costs);
  PlaceChoice choice(fleet, costs, queue, parts_.options.fifo, parts_.clock.Monotonic());
  for (size_t i = 0; ActiveJob* const job = queue.At(i); ++i) {
    if (job->at_worker()) {
      passed.erase(job->id());
      continue;
    }
    if (!HasModel(fleet, job->need)) closed.merge(parts_.residency.LoadFor(job->need, wanted));
    wanted.insert(job->need.model);
    const bool room = fleet.AnyRoom(passed);
    Fleet::Names not_there = preemption.ClosedTo(*job);
    not_there.insert(closed.begin(), closed.end());
    PlaceChoice::Place place;
    if (room) place = choice.For(i, passed, not_there);
    const bool asks = place.worker == nullptr || place.is_late;
    if (asks && ++asked <= kMostAsked) {
      // With others parked for it. It may as well wait there until they may be parked: anywhere
      // else it is late in any case.
      const bool soon = place.worker != nullptr;
      FleetWorker* const made = parts_.parking.MakeRoom(*job, passed, {preemption, costs}, soon);
      if (made != nullptr && !not_there.contains(made->info.name)) place = {made};
    }
    if (place.must_wait) {
      job->held_back = std::min(job->held_back, parts_.clock.Monotonic());
      closed.insert(place.worker->info.name);
    } else if (place.worker != nullptr) {
      Take(*job, *place.worker);
      preemption.Forget(*place.worker);
      placed.push_back(job);
    } else if (!room && asked > kMostAsked) {
      return placed;
    } else if (job->need.alone && room) {
      // Its worker must run empty, which it never would if others went on filling it.
      const auto& workers = fleet.workers();
      const bool comes = std::any_of(workers.begin(), workers.end(), [&](const auto& entry) {
        return fleet.Suits(entry.second, job->need);
      });
      if (comes) return placed;
    } else if (room) {
      closed.merge(fleet.ShortOfMemory(job->need, passed));
    }
  }
  return placed;
}

// What it takes there counts from here on.
void Assigner::Take(ActiveJob& job, FleetWorker& worker) {
  job.held_back = absl::InfiniteDuration();
  std::string where = parts_.fleet.WhereOf(worker, job.need.model);
  if (where != job.need.shape.where) {
    job.need.shape.where = std::move(where);
    job.cost = parts_.costs.Predict(job.need.shape);
    job.expected = job.cost.observed ? job.cost.p50() : absl::ZeroDuration();
    job.expected_p90 = job.cost.observed ? job.cost.p90() : absl::ZeroDuration();
  }
  parts_.slots.Take(job, worker);
}

void Assigner::Assign(ActiveJob& job) {
  job.log->Edit([&](Video& video) { video.worker = job.worker; });
  parts_.media.Begin(job.id(), job.row.attempt);
  if (job.row.num_conditions == 0) return Send(job.id(), job.row.attempt, {});
  parts_.media.ReadConditions(job.id(), job.row.num_conditions,
                              parts_.thread.Here<absl::StatusOr<std::vector<MediaStore::Blob>>>(
                                  [this, id = job.id(), attempt = job.row.attempt](auto blobs) {
                                    if (blobs.ok()) return Send(id, attempt, *std::move(blobs));
                                    ActiveJob* lost = parts_.jobs.FindAttempt(id, attempt);
                                    if (lost != nullptr)
                                      parts_.endings.Fail(*lost, JobEvent::kEnded, blobs.status());
                                  }));
}

void Assigner::Send(const std::string& id, int attempt, std::vector<MediaStore::Blob> conditions) {
  ActiveJob* job = parts_.jobs.FindAttempt(id, attempt);
  const HeldJob* held = parts_.fleet.FindHeld(id);
  if (job == nullptr || held == nullptr || !parts_.jobs.Apply(*job, JobEvent::kSent)) return;
  Assignment assignment = AssignmentOf(*job, held->order_key);
  for (size_t i = 0; i < conditions.size() && i < assignment.spec.conditions.size(); ++i) {
    assignment.spec.conditions[i].bytes = std::move(conditions[i]);
  }
  parts_.limits.Renew(job->worker);
  parts_.pool.Assign(job->worker, std::move(assignment));
}

Assignment Assigner::AssignmentOf(const ActiveJob& job, double order_key) const {
  Video video = job.log->Snapshot();
  Assignment assignment;
  assignment.ref = {job.id(), job.row.attempt, std::move(video.trace_id)};
  assignment.spec = std::move(video.spec);
  // A configured profile is known here alone; what it stands for travels.
  assignment.spec.kernels.profile = job.need.profile;
  assignment.spec.kernels.variants = job.need.variants;
  assignment.order_key = order_key;
  assignment.time_left = std::max(job.deadline - parts_.clock.Monotonic(), absl::ZeroDuration());
  assignment.alone = job.need.alone;
  return assignment;
}

}  // namespace reel::front
