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

Scheduler::Scheduler(const JobOptions& options, const DispatcherPorts& ports, EndJournal& journal,
                     EndListener* listener, FramesComparer* comparer,
                     std::function<void(Task)> post)
    : ports_(ports),
      state_(options, ports.clock, std::move(post)),
      records_(state_, ports_),
      slots_(state_.jobs, state_.roster, state_.share, ports.pool, ports.observer, ports.clock),
      limits_(state_.roster, state_.costs, ports.pool),
      progress_(state_.roster, ports.clock),
      heartbeats_(state_, progress_, ports.clock),
      admission_(state_.options, state_.roster, state_.costs),
      load_(state_, ports_),
      quotes_(admission_, load_, state_.quarantine, state_.roster, ports.clock),
      stored_(state_, ports_, records_),
      states_to_keep_({state_.jobs, state_.bytes, journal, state_.thread, state_.options.state,
                       ports.observer}),
      endings_(state_, ports_, records_, slots_, journal, listener),
      finishing_(state_, ports_, records_, slots_, endings_, states_to_keep_),
      recovery_(state_, ports_, records_, slots_, endings_, progress_),
      reports_(state_, ports_, records_, progress_, endings_, limits_),
      adoption_(state_, ports_, admission_, records_, endings_, progress_),
      reservations_(state_, ports_, quotes_, stored_),
      drain_(state_, ports.clock),
      parking_(state_.jobs, state_.roster, slots_, progress_, ports.observer),
      models_(state_.roster, ports.pool, state_.jobs, endings_, ports.clock, options.models),
      shadows_(state_, ports_, slots_, limits_, admission_, comparer),
      assigner_(state_, ports_, slots_, endings_, limits_),
      runner_(state_, assigner_, parking_, models_, ports.observer, ports.clock) {}

absl::Status Scheduler::Recover() {
  RestartOfFront restart(state_, ports_);
  REEL_RETURN_IF_ERROR(restart.Recover());
  never_begun_ = restart.TakeNeverBegun();
  state_.timers.Set({TimerKind::kTick, {}}, ports_.clock.Monotonic());
  return absl::OkStatus();
}

absl::Status Scheduler::CheckFile(const std::string& tenant, int64_t bytes) const {
  const Load load = load_.Of(tenant);
  if (!load.draining) return CheckFileRoom(tenant, bytes, load.tenant_bytes, load.disk);
  return MakeError(Reason::kServerDraining, "The server is shutting down",
                   {.retry_after = absl::Seconds(5)});
}

void Scheduler::Reserve(NewJob job, Answer<Video> done) {
  const bool detached = !job.bound;
  reservations_.Reserve(std::move(job), [this, detached, done = std::move(done)](
                                            absl::StatusOr<Video> reserved) mutable {
    if (!reserved.ok()) ports_.observer.JobRefused(reserved.status(), detached);
    done(std::move(reserved));
  });
}

absl::StatusOr<WorkerInfo> Scheduler::RestoreWorker(const std::string& worker) {
  const PlannedWorker* found = state_.roster.Find(worker);
  if (found == nullptr) {
    return MakeError(Reason::kWorkerNotFound, absl::StrCat("No worker has this name: ", worker),
                     {.metadata = {{"worker", worker}}});
  }
  ports_.pool.Restore(worker);
  return found->info;
}

void Scheduler::LearnCard(const std::string& card) {
  const auto parsed = ports_.serializer.ParseCard(card);
  // What a worker of this server has said of it stands.
  if (!parsed.ok()) return;
  if (state_.roster.FindCard(parsed->name) == nullptr) state_.roster.SetCard(*parsed);
  // One without models of its own serves those of others.
  std::vector<std::string> served = state_.roster.served();
  const bool is_news = std::count(served.begin(), served.end(), parsed->name) == 0;
  if (!state_.options.models.empty() || !is_news || served.size() >= kMostLearned) return;
  served.push_back(parsed->name);
  state_.roster.SetServed(std::move(served));
}

void Scheduler::SetKernelsElsewhere(
    const std::map<std::string, std::vector<std::string>>& kernels) {
  KernelsElsewhere::Lists lists;
  for (const auto& [model, serialized] : kernels) {
    for (const std::string& bytes : serialized) {
      auto list = ports_.serializer.ParseKernels(bytes);
      if (list.ok()) lists[model].push_back(*std::move(list));
    }
  }
  state_.roster.elsewhere().Set(std::move(lists));
}

void Scheduler::Settle() {
  if (!TakeChanged()) return;
  gauges_stale_ = true;
  models_.EndStranded();
  if (!state_.drain.closed) shadows_.MakeWay();
  runner_.Run(state_.drain.closed);
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
  const bool jobs = state_.jobs.TakeChanged();
  return state_.roster.TakeChanged() || jobs;
}

absl::Duration Scheduler::RunTimers() {
  for (const Timer& timer : state_.timers.Take(ports_.clock.Monotonic())) {
    Fire(timer);
    Settle();
  }
  if (std::exchange(gauges_stale_, false)) {
    QueueGauges gauges =
        load_.Gauges(state_.options.max_backlog_seconds * state_.roster.NumReady());
    gauges.device_capacity_seconds = state_.options.max_backlog_seconds;
    ports_.observer.Gauges(gauges);
  }
  const auto next = state_.timers.next();
  if (!next) return absl::InfiniteDuration();
  return std::max(*next - ports_.clock.Monotonic(), absl::ZeroDuration());
}

void Scheduler::Fire(const Timer& timer) {
  ActiveJob* job = state_.jobs.Find(timer.job);
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
  for (auto& [id, job] : state_.jobs) {
    if (!job.waits() || job.need.shape.passes.empty()) continue;
    job.cost = state_.costs.Predict(job.need.shape);
    job.pool = PoolCostOf(state_.roster, CostsByKind(state_.roster, state_.costs, job.need));
    job.need.memory_bytes = PeakMemoryOf(state_.roster, state_.costs, job.need);
  }
  state_.timers.Set({TimerKind::kTick, {}}, ports_.clock.Monotonic() + heartbeats_.period());
  heartbeats_.Beat();
  state_.jobs.MarkChanged();  // time alone may decide who should go before whom
  shadows_.Tick();
  gauges_stale_ = true;
  if (ticks_ % kTicksPerReap == 0) stored_.Reap(nullptr);
  if (ticks_ % kTicksPerSave == 0) SaveCosts();
}

void Scheduler::SaveCosts() {
  if (state_.costs.TakeChanged()) ports_.store.PutBlob("costs", "cells", state_.costs.Serialize());
}

}  // namespace reel::front
