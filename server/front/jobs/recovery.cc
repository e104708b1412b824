// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/recovery.h"

#include <algorithm>
#include <utility>

#include "server/errors/error.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

// What an out of memory adds to what was predicted.
constexpr double kMemoryRaise = 1.25;

bool MayHaveRun(const HeldJob& held) { return held.started && !held.innocent && !held.told_parked; }

}  // namespace

void Recovery::WorkerLost(const std::string& worker, LossCause cause) {
  ports_.observer.WorkerLost(worker, cause);
  const auto held = slots_.Lose(worker);
  // What the worker had not begun cannot have hurt it.
  const auto began = [](const auto& entry) { return MayHaveRun(entry.second); };
  const auto num_began = std::count_if(held.begin(), held.end(), began);
  // A crash may come before the report of a beginning; a worker whose device is lost delivers what
  // it has to say.
  const bool silent = num_began == 0 && cause != LossCause::kSticky;
  const bool alone = num_began == 1 || (silent && held.size() == 1);
  for (const auto& [id, mine] : held) {
    ActiveJob* job = state_.jobs.FindAttempt(id, mine.attempt);
    if (job == nullptr || !job->at_worker()) continue;
    LoseJob(*job, {cause, MayHaveRun(mine) || (silent && !mine.innocent), alone});
  }
}

void Recovery::LoseJob(ActiveJob& job, const WorkerLoss& loss) {
  if (slots_.Leave(job, JobEvent::kUnsent)) return;
  Execute(job, JudgeLoss(loss, job.need.alone, job.losses), Reason::kWorkerLost);
}

void Recovery::On(const WorkerReport& from, const JobFailed& failed) {
  slots_.LetGo(from.ref.job, from.ref.attempt);
  if (failed.device_lost) slots_.MarkDying(from.worker);
  ActiveJob* job = state_.jobs.FindAttempt(from.ref.job, from.ref.attempt);
  if (job == nullptr || job->phase() != Phase::kAssigned) return;
  if (absl::IsDeadlineExceeded(failed.error)) {
    return endings_.FailByDeadline(*job, JobEvent::kFailed);
  }
  if (ReasonOf(failed.error) == Reason::kOutOfDeviceMemory) RaiseMemory(*job, failed.suspect);
  const Verdict verdict = JudgeFailure(failed, job->need.alone, job->losses);
  Execute(*job, verdict, verdict.reason);
}

void Recovery::RaiseMemory(ActiveJob& job, bool alone) {
  const FleetWorker* worker = state_.fleet.Find(job.worker);
  if (worker == nullptr || worker->info.memory.total <= 0) return;
  const MemoryAccount account = state_.fleet.AccountOf(*worker);
  const int64_t there = account.usable - account.outside - account.weights;
  // Alone it had all that there was, and that was too little. Beside others nobody knows.
  const auto raised = static_cast<int64_t>(
      kMemoryRaise *
      static_cast<double>(alone ? std::max(there, job.need.memory_bytes) : job.need.memory_bytes));
  const int64_t at_least = alone ? raised : std::min(raised, there);
  Log(LogLevel::kWarning, "A video took more of its device's memory than was predicted",
      {{"video", job.id},
       {"worker", job.worker},
       {"predicted_bytes", job.need.memory_bytes},
       {"at_least_bytes", at_least}});
  state_.costs.RaiseMemory(job.need.shape, at_least);
  job.need.memory_bytes = state_.costs.PeakMemory(job.need.shape);
}

void Recovery::Execute(ActiveJob& job, const Verdict& verdict, Reason restart_reason) {
  job.losses = verdict.losses;
  if (verdict.quarantine) state_.quarantine.Blame(job.need.shape, ports_.clock.Monotonic());
  if (verdict.again) return Restart(job, Describe(restart_reason).name, verdict.alone);
  endings_.Fail(job, JobEvent::kFailed, Endings::ErrorOf(job, verdict.reason, verdict.message));
}

void Recovery::Restart(ActiveJob& job, std::string_view reason, bool alone) {
  if (!slots_.Leave(job, JobEvent::kRestarted)) return;
  Log(LogLevel::kWarning, "A video starts again",
      {{"video", job.id}, {"reason", reason}, {"attempt", job.attempt + 1}});
  ports_.media.Remove(job.id, job.attempt, nullptr);
  job.need.alone = alone;
  job.stage = model::Stage::kQueue;
  job.stage_since = ports_.clock.Monotonic();
  job.step = 0;
  job.time_left.reset();
  job.started = job.first_media = absl::InfiniteDuration();
  const RestartRow restart{job.log->TakeSequence(), ports_.clock.Wall(), std::string(reason),
                           job.attempt + 1};
  job.log->AddRestart(restart, [&](Video& video) {
    video.state = VideoState::kQueued;
    video.attempt = restart.attempt;
    video.worker.clear();
    video.progress.stage = model::Stage::kQueue;
    video.progress.step = 0;
  });
  records_.Record(job, RowRestarted{restart}, nullptr);
  ports_.observer.JobRestarted();
  progress_.Add(job, true, 0, absl::ZeroDuration());
}

}  // namespace reel::front
