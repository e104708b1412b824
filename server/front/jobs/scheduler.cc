// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/scheduler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"
#include "server/front/scheduling/worker_costs.h"

namespace reel::front {
namespace {

constexpr int64_t kTicksPerReap = 5;
constexpr int64_t kTicksPerSave = 30;
constexpr size_t kMostLearned = 100;

}  // namespace

Scheduler::Scheduler(const JobOptions& options, const SchedulerParts& parts,
                     std::function<void(Task)> post)
    : options_(options),
      parts_(parts),
      thread_(std::move(post)),
      replica_(options_.replica),
      jobs_(parts.clock),
      fleet_(options_),
      bytes_(jobs_, ledger_, options_),
      experiments_(options_.experiments),
      shadow_queue_(options_.experiments),
      removals_(replica_),
      states_(jobs_, fleet_, costs_, share_, options_),
      records_(parts.store, parts.media, parts.serializer, removals_, thread_),
      charges_(ledger_, records_, parts.clock),
      slots_(jobs_, fleet_, share_, parts.pool, parts.observer, parts.clock),
      limits_(fleet_, costs_, parts.pool),
      progress_(fleet_, parts.clock),
      heartbeats_(jobs_, states_, progress_, options_, parts.clock),
      admission_(options_, fleet_, costs_),
      load_({jobs_, ledger_, bytes_, parts.media, drain_state_, states_, fleet_, costs_, options_,
             parts.clock}),
      quotes_(admission_, load_, quarantine_, fleet_, parts.clock),
      stored_({jobs_, records_, removals_, parts.media, ledger_, replica_, thread_, parts.clock}),
      states_to_keep_(jobs_, bytes_, parts.end_journal, thread_, options_.state),
      endings_({jobs_, records_, slots_, timers_, ledger_, charges_, experiments_, removals_,
                shadow_queue_, parts.media, parts.observer, parts.end_listener, parts.end_journal,
                thread_, options_, parts.clock}),
      finishing_({jobs_, slots_, endings_, costs_, charges_, bytes_, states_to_keep_, parts.media,
                  parts.observer, thread_, parts.clock}),
      recovery_({jobs_, records_, slots_, endings_, progress_, quarantine_, fleet_, costs_,
                 parts.media, parts.observer, parts.clock}),
      reports_({jobs_, records_, fleet_, costs_, bytes_, progress_, endings_, limits_,
                parts.observer, parts.clock}),
      revival_(admission_, fleet_, costs_, bytes_, parts.media, parts.clock),
      adoption_({jobs_, records_, slots_, endings_, share_, timers_, progress_, revival_, load_,
                 parts.media}),
      reservations_(jobs_, quotes_, stored_, parts.media, replica_, parts.clock),
      drain_(drain_state_, jobs_, timers_, parts.clock),
      parking_(jobs_, fleet_, slots_, progress_, parts.observer),
      models_(fleet_, parts.pool, jobs_, endings_, parts.clock, options_.models),
      shadows_({jobs_, fleet_, slots_, limits_, admission_, costs_, shadow_queue_, experiments_,
                drain_state_, parts.media, parts.pool, parts.observer, parts.comparer, thread_}),
      assigner_({jobs_, fleet_, costs_, slots_, endings_, limits_, parts.media, parts.pool, thread_,
                 parts.clock}),
      runner_(states_, assigner_, parking_, models_, parts.observer, parts.clock) {
  for (const auto& [tenant, of_tenant] : options_.tenants) {
    share_.SetWeight(tenant, of_tenant.weight);
  }
}

absl::Status Scheduler::Recover() {
  RestartOfFront restart({parts_.store, parts_.media, parts_.serializer, replica_, fleet_, costs_,
                          ledger_, options_, parts_.clock});
  REEL_RETURN_IF_ERROR(restart.Recover());
  never_begun_ = restart.TakeNeverBegun();
  timers_.Set({TimerKind::kTick, {}}, parts_.clock.Monotonic());
  return absl::OkStatus();
}

void Scheduler::Reserve(NewJob job, Answer<Video> done) {
  const bool detached = !job.bound;
  reservations_.Reserve(std::move(job), [this, detached, done = std::move(done)](
                                            absl::StatusOr<Video> reserved) mutable {
    if (!reserved.ok()) parts_.observer.JobRefused(reserved.status(), detached);
    done(std::move(reserved));
  });
}

absl::StatusOr<WorkerInfo> Scheduler::RestoreWorker(const std::string& worker) {
  const FleetWorker* found = fleet_.Find(worker);
  if (found == nullptr) {
    ErrorDetails details;
    details.metadata["worker"] = worker;
    return MakeError(Reason::kWorkerNotFound, absl::StrCat("No worker has this name: ", worker),
                     details);
  }
  parts_.pool.Restore(worker);
  return found->info;
}

void Scheduler::LearnCard(const std::string& card) {
  const auto parsed = parts_.serializer.ParseCard(card);
  // What a worker of this server has said of it stands.
  if (!parsed.ok()) return;
  if (fleet_.FindCard(parsed->name) == nullptr) fleet_.SetCard(*parsed);
  // One without models of its own serves those of others.
  std::vector<std::string> served = fleet_.served();
  const bool is_news = std::count(served.begin(), served.end(), parsed->name) == 0;
  if (!options_.models.empty() || !is_news || served.size() >= kMostLearned) return;
  served.push_back(parsed->name);
  fleet_.SetServed(std::move(served));
}

void Scheduler::SetKernelsElsewhere(
    const std::map<std::string, std::vector<std::string>>& kernels) {
  KernelsElsewhere::Lists lists;
  for (const auto& [model, serialized] : kernels) {
    for (const std::string& bytes : serialized) {
      auto list = parts_.serializer.ParseKernels(bytes);
      if (list.ok()) lists[model].push_back(*std::move(list));
    }
  }
  fleet_.elsewhere().Set(std::move(lists));
}

void Scheduler::Settle() {
  if (!TakeChanged()) return;
  gauges_stale_ = true;
  models_.EndStranded();
  if (!drain_state_.closed) shadows_.MakeWay();
  runner_.Run(drain_state_.closed);
  if (drain_.reached()) {
    SaveCosts();
    drain_.Answer();
  }
  TakeChanged();  // by this alone, and nothing more follows from that
}

void Scheduler::On(const WorkerReport& from, JobFinished& event) {
  if (shadows_.Owns(from.ref)) return shadows_.On(event);
  finishing_.On(from, std::move(event));
}

void Scheduler::On(const WorkerReport& from, JobFailed& event) {
  if (shadows_.Owns(from.ref)) shadows_.On(event);
  recovery_.On(from, event);  // it may tell of a lost device
}

bool Scheduler::TakeChanged() {
  const bool jobs = jobs_.TakeChanged();
  return fleet_.TakeChanged() || jobs;
}

absl::Duration Scheduler::RunTimers() {
  for (const Timer& timer : timers_.Take(parts_.clock.Monotonic())) {
    Fire(timer);
    Settle();
  }
  if (std::exchange(gauges_stale_, false)) {
    QueueGauges gauges = load_.Gauges(options_.max_backlog_seconds * fleet_.NumReady());
    gauges.device_capacity_seconds = options_.max_backlog_seconds;
    parts_.observer.Gauges(gauges);
  }
  const auto next = timers_.next();
  if (!next) return absl::InfiniteDuration();
  return std::max(*next - parts_.clock.Monotonic(), absl::ZeroDuration());
}

void Scheduler::Fire(const Timer& timer) {
  ActiveJob* job = jobs_.Find(timer.job);
  switch (timer.kind) {
    case TimerKind::kCloseAdmission:
      return drain_.CloseAdmission();
    case TimerKind::kCutDrain:
      return drain_.Cut();
    case TimerKind::kDeadline:
      if (job != nullptr) endings_.FailByDeadline(*job, JobEvent::kEnded);
      return;
    case TimerKind::kTick:
      return Tick();
  }
}

void Scheduler::Tick() {
  ++ticks_;
  // What was learned since they came counts for all alike, or equals would change places.
  for (auto& [id, job] : jobs_) {
    if (!job.waits() || job.need.shape.passes.empty()) continue;
    job.cost = costs_.Predict(job.need.shape);
    job.pool = PoolCostOf(fleet_, CostsByKind(fleet_, costs_, job.need));
    job.need.memory_bytes = PeakMemoryOf(fleet_, costs_, job.need);
  }
  timers_.Set({TimerKind::kTick, {}}, parts_.clock.Monotonic() + heartbeats_.period());
  heartbeats_.Beat();
  jobs_.MarkChanged();  // time alone may decide who should go before whom
  shadows_.Tick();
  gauges_stale_ = true;
  if (ticks_ % kTicksPerReap == 0) stored_.Reap(nullptr);
  if (ticks_ % kTicksPerSave == 0) SaveCosts();
}

void Scheduler::SaveCosts() {
  if (costs_.TakeChanged()) parts_.store.PutBlob("costs", "cells", costs_.Serialize());
}

}  // namespace reel::front
