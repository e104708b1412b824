// SPDX-License-Identifier: Apache-2.0
// What workers report of jobs that run.
#include <algorithm>
#include <utility>

#include "server/errors/error.h"
#include "server/front/jobs/scheduler.h"

namespace reel::front {

void Scheduler::ModelLoaded(const std::string& worker, const model::ModelCard& card) {
  parts_.store.PutBlob("card", card.name, parts_.serializer.SerializeCard(card));
  fleet_.SetCard(card);
  fleet_.SetLoaded(worker, card.name);
  for (auto& [id, job] : jobs_) {
    // Taken up from an earlier process before any card was known.
    if (job.need.model != card.name || !job.need.shape.passes.empty()) continue;
    job.need.shape = ShapeOf(job.log->Snapshot().spec, card, Admission::PlanName(job.need));
    job.cost = costs_.Predict(job.need.shape);
  }
  Pump();
}

void Scheduler::ModelFailed(const std::string& worker, const std::string& model,
                            const absl::Status& error) {
  (void)worker;
  fleet_.SetFailed(model, error);
}

void Scheduler::JobProgress(const std::string& id, int attempt, model::Stage stage, int step,
                            int num_steps) {
  ActiveJob* job = FindAttempt(id, attempt);
  if (job == nullptr || job->phase != Phase::kAssigned) return;
  const bool new_stage = stage != job->stage;
  const bool new_step = step != job->step;
  if (new_stage) job->stage_since = now();
  job->stage = stage;
  job->step = step;
  if (stage > model::Stage::kQueue && job->started == absl::InfiniteDuration()) StartRun(*job);
  if (HeldJob* held = fleet_.FindHeld(id)) {
    held->left = job->cost.Left(step);
    held->started |= stage > model::Stage::kQueue;
  }
  // The first step, the last one and each change of stage are always sent.
  const bool edge = new_step && (step == 1 || step == num_steps);
  AddProgress(*job, new_stage || edge, 0, AheadAtWorker(*job));
}

// QUEUED to RUNNING: no need to wait for the store, since after a crash it is QUEUED.
void Scheduler::StartRun(ActiveJob& job) {
  job.started = now();
  job.row.state = RowState::kRunning;
  job.log->Edit([&](Video& video) {
    video.state = VideoState::kRunning;
    video.start_time = wall();
  });
  Save(job, Durability::kLogged, nullptr);
  // Of a job that starts again the wait has been told.
  if (!std::exchange(job.told_start, true)) {
    parts_.observer.JobStarted(job.log->Snapshot(), job.started - job.accepted);
  }
}

// What its worker does before it: jobs with lower keys, unless all are packed into one step.
absl::Duration Scheduler::AheadAtWorker(const ActiveJob& job) {
  const FleetWorker* worker = fleet_.Find(job.worker);
  if (worker == nullptr) return absl::ZeroDuration();
  const auto own = worker->held.find(job.id());
  if (own == worker->held.end()) return absl::ZeroDuration();
  absl::Duration ahead;
  int64_t rows = 0;
  for (const auto& [id, held] : worker->held) {
    rows += held.shape.rows();
    if (held.order_key < own->second.order_key) ahead += held.left;
  }
  return rows <= options_.fill_rows ? absl::ZeroDuration() : ahead;
}

void Scheduler::AddProgress(ActiveJob& job, bool keep, int position, absl::Duration ahead) {
  const Cost& cost = job.cost;
  const absl::Duration total = std::max(cost.p50(), absl::Milliseconds(1));
  absl::Duration left = job.phase == Phase::kAssigned ? cost.Left(job.step) : cost.p50();
  const absl::Duration in_stage = now() - job.stage_since;
  if (job.stage == model::Stage::kDecode) left = std::max(cost.decode - in_stage, total / 50);
  if (job.stage == model::Stage::kEncode) left = total / 100;
  Progress progress;
  progress.stage = job.at_worker() ? job.stage : model::Stage::kQueue;
  progress.step = job.step;
  progress.num_steps = job.need.shape.steps();
  progress.fraction = 1 - absl::FDivDuration(left, total);
  if (job.stage == model::Stage::kQueue) progress.fraction = 0;
  progress.remaining = left + std::max(ahead, absl::ZeroDuration());
  progress.queue_position = position;
  job.last_event = now();
  job.log->AddProgress(wall(), progress, keep);
  if (job.log->wants_reservation()) ReserveNumbers(job);
}

void Scheduler::ReserveNumbers(ActiveJob& job) {
  if (job.reserving || !job.deciding() || job.phase == Phase::kCreating) return;
  job.reserving = true;
  job.row.reserved_sequence += kSequenceBlock;
  const uint64_t last = job.row.reserved_sequence;
  Save(job, Durability::kLogged,
       Here<absl::Status>([this, id = job.id(), last](const absl::Status& saved) {
         ActiveJob* found = FindActive(id);
         if (found == nullptr) return;
         found->reserving = false;
         if (saved.ok()) found->log->Reserve(last);
       }));
}

void Scheduler::JobPreview(const std::string& id, int attempt, PreviewEvent preview) {
  ActiveJob* job = FindAttempt(id, attempt);
  if (job == nullptr || job->phase != Phase::kAssigned) return;
  job->log->AddPreview(wall(), std::move(preview));
}

void Scheduler::MediaAppended(const std::string& id, int attempt, absl::StatusOr<int64_t> size,
                              bool fragment_end) {
  ActiveJob* job = FindAttempt(id, attempt);
  // A job may have its last bytes written after its worker has reported the end of it.
  if (job == nullptr || (job->phase != Phase::kAssigned && job->phase != Phase::kFinishing)) {
    return;
  }
  if (size.ok()) {
    job->first_media = std::min(job->first_media, now());
    return job->log->GrowMedia(attempt, *size, fragment_end);
  }
  // Of a job that is finishing the digest fails, and says so.
  if (absl::IsAborted(size.status()) || job->phase != Phase::kAssigned) return;
  const Reason reason = ReasonOf(size.status()).value_or(Reason::kInternal);
  const std::string message(size.status().message());
  End(*job, VideoState::kFailed, EndError(*job, reason, message));
}

void Scheduler::Stepped(const std::string& worker, const StepSample& sample) {
  parts_.observer.Stepped(worker, sample);
  if (sample.stage != model::Stage::kDenoise) return;
  costs_.LearnStep(sample.model, sample.plan, sample.rows, sample.duration);
  for (const std::string& id : sample.jobs) {
    if (ActiveJob* job = FindActive(id)) job->cost = costs_.Predict(job->need.shape);
  }
  RenewStepLimit(worker);
}

}  // namespace reel::front
