// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/slots.h"

#include <algorithm>
#include <utility>

namespace reel::front {
namespace {

constexpr absl::Duration kLeastStepLimit = absl::Seconds(5);
// Before the first step of a model with weights: kernels are compiled and tuned in it.
constexpr absl::Duration kFirstStepLimit = absl::Minutes(2);

}  // namespace

void StepLimits::Renew(const std::string& name) {
  PlannedWorker* worker = roster_.Find(name);
  if (worker == nullptr || (worker->held.empty() && !worker->shadow)) return;
  // All that it holds may be in one step.
  absl::Duration step, piece, limit = kLeastStepLimit;
  const auto add = [&](const WorkShape& shape) {
    const Cost cost = costs_.Predict(shape);
    if (!cost.observed && shape.weights) limit = std::max(limit, kFirstStepLimit);
    step += cost.longest_step_p90();
    piece = std::max({piece, cost.decode_p90, cost.text});
  };
  for (const auto& [id, held] : worker->held) add(held.shape);
  if (worker->shadow) add(worker->shadow->shape);
  limit = std::max({limit, 10 * step, 10 * piece});
  if (limit == worker->step_limit) return;
  worker->step_limit = limit;
  pool_.SetStepLimit(name, limit);
}

Slots::Slots(JobTable& jobs, WorkerRoster& roster, FairShare& share, WorkerPool& pool,
             JobObserver& observer, const Clock& clock)
    : jobs_(jobs),
      roster_(roster),
      share_(share),
      pool_(pool),
      observer_(observer),
      clock_(clock) {}

void Slots::Take(ActiveJob& job, PlannedWorker& worker) {
  if (!jobs_.Apply(job, JobEvent::kPlaced)) return;
  GiveUpShadow(worker);  // before the job arrives
  job.worker = worker.info.name;
  job.step = 0;
  job.need.shape.where = roster_.WhereOf(worker, job.need.model);
  HeldJob held;
  held.attempt = job.attempt;
  held.shape = job.need.shape;
  held.left = job.cost.p50();
  held.memory_bytes = job.need.memory_bytes;
  held.order_key = static_cast<double>(++assignments_);
  held.alone = job.need.alone;
  roster_.Hold(job.worker, job.id, std::move(held));
  job.devices = worker.num_devices();
  job.charged = job.devices * job.cost.p50();
  share_.Charge(job.tenant, job.charged);
}

void Slots::PutLast(ActiveJob& job) {
  HeldJob* held = roster_.FindHeld(job.id);
  if (held == nullptr) return;
  held->order_key = static_cast<double>(++assignments_);
  if (job.phase() == Phase::kAssigned) pool_.Reorder(job.worker, job.id, held->order_key);
}

void Slots::Park(ActiveJob& job, const std::string& parked_for, bool to_host) {
  HeldJob* held = roster_.FindHeld(job.id);
  if (held == nullptr) return;
  held->parked_for = parked_for;
  job.clock.Enter(model::RunPart::kParked, clock_.Monotonic());
  held->told_parked = held->ran_enough = false;
  held->to_host = to_host;
  held->parked_bytes = held->device_bytes = 0;
  // Behind the other for the rest of both: what that has to decode goes first.
  held->order_key = static_cast<double>(++assignments_);
  pool_.Park(job.worker, job.id, to_host);
  pool_.Reorder(job.worker, job.id, held->order_key);
  jobs_.MarkChanged();
}

void Slots::MoveToHost(ActiveJob& job) {
  HeldJob* held = roster_.FindHeld(job.id);
  if (held == nullptr) return;
  held->to_host = true;
  pool_.Park(job.worker, job.id, /*to_host=*/true);
}

void Slots::Resume(ActiveJob& job) {
  HeldJob* held = roster_.FindHeld(job.id);
  if (held == nullptr) return;
  held->parked_for.clear();
  held->told_parked = false;
  job.clock.Enter(model::PartOf(job.stage), clock_.Monotonic());
  held->stepped_since = clock_.Monotonic();
  held->stepped_from = job.step;
  pool_.Resume(job.worker, job.id);
  jobs_.MarkChanged();
}

bool Slots::Leave(ActiveJob& job, JobEvent event) {
  const bool began = job.phase() == Phase::kAssigned && job.started <= clock_.Monotonic();
  const absl::Duration used =
      began ? job.devices * (job.cost.p50() - job.Left()) : absl::ZeroDuration();
  const std::optional<Release> release = jobs_.Apply(job, event);
  if (!release) return false;
  if (*release == Release::kTakeBack) roster_.Release(job.id, job.attempt);
  if (*release == Release::kStop) {
    if (HeldJob* held = roster_.FindHeld(job.id)) held->cancelled_at = clock_.Monotonic();
    pool_.Cancel(job.worker, job.id);
  }
  Charge(job, used);
  return true;
}

void Slots::GiveUpShadow(PlannedWorker& worker) {
  if (!worker.shadow || worker.shadow->given_up) return;
  worker.shadow->given_up = true;
  pool_.Cancel(worker.info.name, worker.shadow->id);
}

void Slots::Charge(ActiveJob& job, absl::Duration used) {
  share_.Charge(job.tenant, used - job.charged);
  job.charged = absl::ZeroDuration();
}

void Slots::LetGo(const std::string& job, int attempt) {
  if (const auto held = roster_.Release(job, attempt)) Tell(*held);
}

std::map<std::string, HeldJob> Slots::Lose(const std::string& worker) {
  auto held = roster_.Lose(worker);
  for (const auto& [job, mine] : held) Tell(mine);
  return held;
}

void Slots::Tell(const HeldJob& held) {
  if (held.cancelled_at) observer_.CancelDone(clock_.Monotonic() - *held.cancelled_at);
}

}  // namespace reel::front
