// SPDX-License-Identifier: Apache-2.0
// Workers that come and go, and who is to blame: a job that ran alone when its worker's device was
// lost or hung is suspect and fails; every other job runs again, alone, once. A worker that was
// killed from outside blames nobody.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/front/jobs/scheduler.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr int kMostKills = 5;
constexpr int kMostLosses = 2;

}  // namespace

void Scheduler::WorkerChanged(const WorkerInfo& worker) {
  fleet_.Update(worker);
  parts_.observer.WorkerChanged(worker);
  Pump();
  CheckDrained();
}

void Scheduler::WorkerLost(const std::string& worker, LossCause cause) {
  parts_.observer.WorkerLost(worker, cause);
  const auto held = fleet_.Lose(worker);
  // What the worker had not begun cannot have hurt it, unless it had begun nothing at all.
  const auto began = [](const auto& entry) { return entry.second.started; };
  const auto num_began = std::count_if(held.begin(), held.end(), began);
  const bool alone = num_began == 1 || (num_began == 0 && held.size() == 1);
  for (const auto& [id, mine] : held) {
    if (mine.cancelled_at) parts_.observer.CancelDone(now() - *mine.cancelled_at);
    ActiveJob* job = FindAttempt(id, mine.attempt);
    if (job == nullptr || !job->at_worker()) continue;
    LoseJob(*job, cause, num_began == 0 || mine.started, alone);
  }
  Pump();
  CheckDrained();
}

// `ran`: it may have been stepped when the worker was lost; `alone`: and nothing else was.
void Scheduler::LoseJob(ActiveJob& job, LossCause cause, bool ran, bool alone) {
  const std::string_view reason = Describe(Reason::kWorkerLost).name;
  if (job.phase == Phase::kFetching) {
    // It never reached the worker.
    Unassign(job);
    job.phase = Phase::kQueued;
    return;
  }
  if (cause == LossCause::kKilled) {
    if (++job.kills <= kMostKills) return Restart(job, reason, job.need.alone);
    return End(job, VideoState::kFailed,
               EndError(job, Reason::kWorkerLost, "The worker was killed again and again"));
  }
  if (!ran) return Restart(job, reason, job.need.alone);
  if (alone) quarantine_.Blame(job.need.shape, now());
  if (alone && (cause == LossCause::kSticky || cause == LossCause::kHang)) {
    return End(job, VideoState::kFailed,
               EndError(job, Reason::kWorkerFault,
                        cause == LossCause::kHang
                            ? "The worker's device hung under this video, which ran alone"
                            : "The worker's device failed under this video, which ran alone"));
  }
  if (++job.losses < kMostLosses) return Restart(job, reason, true);
  End(job, VideoState::kFailed,
      EndError(job, Reason::kWorkerLost,
               "The worker was lost, and so was the one that tried again"));
}

void Scheduler::JobFailed(const std::string& id, int attempt, const absl::Status& error,
                          bool suspect) {
  const auto held = fleet_.Release(id, attempt);
  if (held && held->cancelled_at) parts_.observer.CancelDone(now() - *held->cancelled_at);
  ActiveJob* job = FindAttempt(id, attempt);
  if (job == nullptr || job->phase != Phase::kAssigned) {
    Pump();
    return CheckDrained();
  }
  const Reason reason = ReasonOf(error).value_or(Reason::kWorkerFault);
  if (absl::IsDeadlineExceeded(error)) {
    EndByDeadline(*job);
  } else {
    const bool transient = absl::IsCancelled(error) || reason == Reason::kOutOfDeviceMemory ||
                           reason == Reason::kWorkerLost || reason == Reason::kWorkerFault;
    if (!suspect && transient && !job->need.alone && ++job->losses < kMostLosses) {
      Restart(*job, Describe(reason).name, true);
    } else {
      Unassign(*job);
      job->phase = Phase::kRestarting;  // the worker has let go of it: nothing is to be cancelled
      End(*job, VideoState::kFailed, EndError(*job, reason, std::string(error.message())));
    }
  }
  Pump();
}

// What was charged in advance becomes what was used.
void Scheduler::Unassign(ActiveJob& job) {
  const bool began = job.phase == Phase::kAssigned && job.started <= now();
  const absl::Duration used = began ? job.cost.p50() - job.Left() : absl::ZeroDuration();
  share_.Charge(job.row.tenant, used - job.charged);
  job.charged = absl::ZeroDuration();
}

void Scheduler::Restart(ActiveJob& job, std::string_view reason, bool alone) {
  Log(LogLevel::kWarning, "A video starts again",
      {{"video", job.id()}, {"reason", reason}, {"attempt", job.row.attempt + 1}});
  parts_.media.Remove(job.id(), job.row.attempt, nullptr);
  Unassign(job);
  job.phase = Phase::kRestarting;
  job.need.alone = alone;
  job.stage = model::Stage::kQueue;
  job.stage_since = now();
  job.step = 0;
  job.started = job.first_media = absl::InfiniteDuration();
  ++job.row.attempt;
  job.row.state = RowState::kQueued;
  job.row.reserved_sequence += kSequenceBlock;
  const RestartRow restart{job.log->TakeSequence(), wall(), std::string(reason), job.row.attempt};
  job.row.restarts.push_back(restart);
  JobRow row = job.row;
  Video video = job.log->Snapshot();
  video.state = VideoState::kQueued;
  video.attempt = row.attempt;
  row.video = parts_.serializer.Serialize(video);
  parts_.store.Update(std::move(row), Durability::kSynced,
                      Here<absl::Status>([this, id = job.id(), restart](const absl::Status& saved) {
                        OnRestarted(id, restart, saved);
                      }));
}

void Scheduler::OnRestarted(const std::string& id, const RestartRow& restart,
                            const absl::Status& saved) {
  ActiveJob* job = FindAttempt(id, restart.attempt);
  if (job == nullptr) return;
  if (!saved.ok()) {
    Log(LogLevel::kError, "A restart could not be stored", {{"video", id}, {"error", saved}});
  }
  job->log->Reserve(job->row.reserved_sequence);
  job->log->AddRestart(restart, [&](Video& video) {
    video.state = VideoState::kQueued;
    video.attempt = restart.attempt;
    video.worker.clear();
    video.progress.stage = model::Stage::kQueue;
    video.progress.step = 0;
  });
  parts_.observer.JobRestarted();
  if (job->phase != Phase::kRestarting) return;  // it has met its end in between
  job->phase = Phase::kQueued;
  if (closed_ && job->row.bound) return EndByDrain(*job);
  AddProgress(*job, true, 0, absl::ZeroDuration());
  Pump();
}

}  // namespace reel::front
