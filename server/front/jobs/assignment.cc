// SPDX-License-Identifier: Apache-2.0
// Which job goes to which worker, and when.
#include <algorithm>
#include <utility>

#include "server/front/jobs/scheduler.h"

namespace reel::front {
namespace {

constexpr absl::Duration kLeastStepLimit = absl::Seconds(5);
// Before the first step of a model with weights: kernels are compiled and tuned in it.
constexpr absl::Duration kFirstStepLimit = absl::Minutes(2);

}  // namespace

// The jobs that could run, in the order in which they should.
std::vector<ActiveJob*> Scheduler::RunOrder() {
  std::vector<ActiveJob*> jobs;
  for (auto& [id, job] : jobs_) {
    if (job.runnable()) jobs.push_back(&job);
  }
  if (options_.fifo) {
    std::stable_sort(jobs.begin(), jobs.end(), [](const ActiveJob* a, const ActiveJob* b) {
      return a->accepted < b->accepted;
    });
    return jobs;
  }
  std::vector<Waiting> waiting;
  waiting.reserve(jobs.size());
  for (const ActiveJob* job : jobs) {
    waiting.push_back(
        {job->row.tenant, job->log->priority(), job->accepted, job->deadline, job->cost.p90()});
  }
  std::vector<ActiveJob*> ordered;
  ordered.reserve(jobs.size());
  for (size_t index : FairOrder(waiting, share_, now())) ordered.push_back(jobs[index]);
  return ordered;
}

void Scheduler::Pump() {
  gauges_stale_ = true;
  if (closed_ || !fleet_.AnyRoom()) return;
  for (ActiveJob* job : RunOrder()) {
    if (FleetWorker* worker = fleet_.Place(job->need)) {
      Assign(*job, *worker);
      if (!fleet_.AnyRoom()) return;
    } else if (job->need.alone) {
      // Its worker must run empty, which it never would if others went on filling it.
      const auto& workers = fleet_.workers();
      const bool comes = std::any_of(workers.begin(), workers.end(), [&](const auto& entry) {
        return fleet_.Suits(entry.second, job->need);
      });
      if (comes) return;
    }
  }
}

void Scheduler::Assign(ActiveJob& job, FleetWorker& worker) {
  const std::string& name = worker.info.name;
  job.phase = Phase::kFetching;
  job.worker = name;
  job.step = 0;
  HeldJob held;
  held.attempt = job.row.attempt;
  held.shape = job.need.shape;
  held.left = job.cost.p50();
  held.order_key = static_cast<double>(++assignments_);
  held.alone = job.need.alone;
  fleet_.Hold(name, job.id(), std::move(held));
  job.charged = job.cost.p50();
  share_.Charge(job.row.tenant, job.charged);
  job.log->Edit([&](Video& video) { video.worker = name; });
  parts_.media.Begin(job.id(), job.row.attempt);
  if (job.row.num_conditions == 0) return Send(job.id(), job.row.attempt, {});
  parts_.media.ReadConditions(job.id(), job.row.num_conditions,
                              Here<absl::StatusOr<std::vector<MediaStore::Blob>>>(
                                  [this, id = job.id(), attempt = job.row.attempt](auto blobs) {
                                    if (blobs.ok()) return Send(id, attempt, *std::move(blobs));
                                    if (ActiveJob* lost = FindAttempt(id, attempt)) {
                                      End(*lost, VideoState::kFailed, blobs.status());
                                    }
                                  }));
}

void Scheduler::Send(const std::string& id, int attempt, std::vector<MediaStore::Blob> conditions) {
  ActiveJob* job = FindAttempt(id, attempt);
  if (job == nullptr || job->phase != Phase::kFetching) return;
  HeldJob* held = fleet_.FindHeld(id);
  if (held == nullptr) return;
  const Video video = job->log->Snapshot();
  Assignment assignment;
  assignment.job = id;
  assignment.attempt = attempt;
  assignment.spec = video.spec;
  // A configured profile is known here alone; what it stands for travels.
  assignment.spec.kernels.profile = job->need.profile;
  assignment.spec.kernels.variants = job->need.variants;
  for (size_t i = 0; i < conditions.size() && i < assignment.spec.conditions.size(); ++i) {
    assignment.spec.conditions[i].bytes = std::move(conditions[i]);
  }
  assignment.order_key = held->order_key;
  assignment.time_left = std::max(job->deadline - now(), absl::ZeroDuration());
  assignment.alone = job->need.alone;
  assignment.trace_id = video.trace_id;
  job->phase = Phase::kAssigned;
  RenewStepLimit(job->worker);
  parts_.pool.Assign(job->worker, std::move(assignment));
}

// Ten times what the longest piece is predicted to take, all that it holds in one step.
void Scheduler::RenewStepLimit(const std::string& name) {
  FleetWorker* worker = fleet_.Find(name);
  if (worker == nullptr || worker->held.empty()) return;
  absl::Duration step, piece, limit = kLeastStepLimit;
  for (const auto& [id, held] : worker->held) {
    const Cost cost = costs_.Predict(held.shape);
    if (!cost.observed && held.shape.weights) limit = std::max(limit, kFirstStepLimit);
    step += cost.longest_step_p90();
    piece = std::max({piece, cost.decode_p90, cost.text});
  }
  limit = std::max({limit, 10 * step, 10 * piece});
  if (limit == worker->step_limit) return;
  worker->step_limit = limit;
  parts_.pool.SetStepLimit(name, limit);
}

}  // namespace reel::front
