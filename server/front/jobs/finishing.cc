// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/finishing.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/logging/log.h"

namespace reel::front {

void Finishing::On(const WorkerReport& from, JobFinished finished) {
  const JobRef& ref = from.ref;
  slots_.LetGo(ref.job, ref.attempt);
  ActiveJob* job = state_.jobs.FindAttempt(ref.job, ref.attempt);
  if (job == nullptr) return;
  if (ports_.clock.Monotonic() >= job->deadline) {
    // Its timer is due as well, and was not asked first.
    return endings_.FailByDeadline(*job, JobEvent::kFailed);
  }
  if (!state_.jobs.Apply(*job, JobEvent::kRendered)) return;
  job->stage = model::Stage::kEncode;
  model::RunStats stats = Complete(*job, std::move(finished.stats));
  Count(*job, stats);
  state_.costs.LearnMemory(job->need.shape, finished.memory_bytes);
  states_.End(*job, finished);
  Video video = job->log->Snapshot();
  video.stats = std::move(stats);
  video.media = std::move(finished.media);
  video.notices = std::move(finished.notices);
  ports_.media.Finish(ref.job, ref.attempt,
                      state_.thread.Here<absl::StatusOr<MediaDigest>>(
                          [this, id = job->id, video = std::move(video)](auto digest) mutable {
                            OnDigest(id, std::move(video), digest);
                          }));
}

model::RunStats Finishing::Complete(ActiveJob& job, model::RunStats stats) const {
  const absl::Duration now = ports_.clock.Monotonic();
  stats.queued = std::min(job.started, now) - job.accepted;
  job.clock.Detail(std::exchange(stats.parts, {}), std::exchange(stats.spans, {}));
  stats.first_media_byte = std::min(job.first_media, now) - job.accepted;
  stats.restarts = job.attempt - 1;
  if (stats.device_seconds <= 0) {
    stats.device_seconds = absl::ToDoubleSeconds(stats.text_encode + stats.denoise +
                                                 stats.sound_decode + stats.decode);
  }
  return stats;
}

// What is learned is of the run; what is charged of all devices that it had.
void Finishing::Count(ActiveJob& job, model::RunStats& stats) {
  state_.costs.LearnRun(job.need.shape, stats, job.expected, job.expected_p90);
  if (job.time_left) {
    ports_.observer.TimeLeftChecked(job.time_left->told,
                                    ports_.clock.Monotonic() - job.time_left->at);
  }
  if (job.expected > absl::ZeroDuration()) {
    const absl::Duration work = WorkOf(stats);
    ports_.observer.EstimateChecked(job.expected, work, work <= job.expected_p90);
  }
  stats.device_seconds *= job.devices;
  slots_.Pay(job, absl::Seconds(stats.device_seconds));
  records_.Charge(job.tenant, absl::Seconds(stats.device_seconds));
}

void Finishing::OnDigest(const std::string& id, Video video,
                         const absl::StatusOr<MediaDigest>& digest) {
  ActiveJob& job = state_.jobs.Get(id);
  absl::Status wrong = digest.status();
  if (digest.ok() && digest->size != video.media.size_bytes) {
    wrong = MakeError(Reason::kWorkerFault,
                      absl::StrCat("The worker sent ", digest->size, " bytes and reported ",
                                   video.media.size_bytes));
  }
  if (digest.ok()) state_.costs.LearnOutput(job.need.shape, digest->size);
  if (wrong.ok()) {
    if (absl::Status room = state_.bytes.Grow(job, digest->size); !room.ok()) {
      return endings_.Fail(job, JobEvent::kSpoiled, std::move(room));
    }
    return states_.Keep(job, std::move(video), [this, id, digest = *digest](Video kept) {
      endings_.Succeed(state_.jobs.Get(id), std::move(kept), digest);
    });
  }
  const Reason reason = ReasonOf(wrong).value_or(Reason::kStoreFull);
  endings_.Fail(job, JobEvent::kSpoiled,
                Endings::ErrorOf(job, reason, std::string(wrong.message())));
}

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
  const PlannedWorker* worker = state_.roster.Find(job.worker);
  if (worker == nullptr || worker->info.memory.total <= 0) return;
  const MemoryAccount account = state_.roster.AccountOf(*worker);
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
