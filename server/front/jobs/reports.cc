// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/reports.h"

#include <algorithm>
#include <utility>

#include "server/errors/error.h"
#include "server/front/jobs/admission.h"
#include "server/front/scheduling/preemption.h"

namespace reel::front {

void Reports::WorkerChanged(const WorkerInfo& worker) {
  state_.roster.Update(worker);
  ports_.observer.WorkerChanged(worker);
}

void Reports::On(const WorkerReport& from, const ModelLoaded& loaded) {
  if (!state_.roster.IsAwaited(from.worker, loaded.model, loaded.revision)) return;
  for (const WarmedUp& video : loaded.warm_ups) ports_.observer.WarmedUp(from.worker, video);
  const model::ModelCard& card = loaded.card;
  records_.KeepCard(card);
  state_.roster.SetCard(card);
  NoteLink(from.worker, loaded.model);
  NoteLoad(from.worker, loaded);
  state_.roster.SetLoaded(from.worker, card, loaded.revision);
  ShapeWaiting(card);
}

void Reports::On(const WorkerReport& from, const ModelKnown& known) {
  if (!state_.roster.CheckServed(known.model).ok()) return;
  records_.KeepCard(known.card);
  state_.roster.SetCard(known.card);
  state_.roster.SetKnown(from.worker, known.card);
  NoteLink(from.worker, known.model);
  ShapeWaiting(known.card);
}

void Reports::NoteLink(const std::string& worker, const std::string& model) {
  const PlannedWorker* there = state_.roster.Find(worker);
  if (there == nullptr) return;
  state_.costs.LearnCopies(model, state_.roster.WhereOf(*there, model),
                           there->info.copy_bytes_per_second);
}

void Reports::NoteLoad(const std::string& worker, const ModelLoaded& loaded) {
  ports_.observer.ModelLoaded(worker);
  const PlannedWorker* there = state_.roster.Find(worker);
  if (loaded.revision == 0 || there == nullptr) return;
  const auto since = there->loading_since.find(loaded.model);
  if (since == there->loading_since.end()) return;
  state_.costs.LearnLoad(loaded.model, state_.roster.WhereOf(*there, loaded.model),
                         ports_.clock.Monotonic() - since->second);
}

void Reports::ShapeWaiting(const model::ModelCard& card) {
  for (auto& [id, job] : state_.jobs) {
    // Taken up from an earlier process before any card was known.
    if (job.need.model != card.name || !job.need.shape.passes.empty()) continue;
    job.need.shape = ShapeOf(job.log->Snapshot().spec, card, Admission::PlanName(job.need));
    job.cost = state_.costs.Predict(job.need.shape);
    job.need.memory_bytes = state_.costs.PeakMemory(job.need.shape);
  }
}

void Reports::On(const WorkerReport& from, const ModelFailed& failed) {
  if (!state_.roster.IsAwaited(from.worker, failed.model, failed.revision)) return;
  state_.roster.SetFailed(from.worker, failed);
}

void Reports::On(const WorkerReport& from, const JobProgress& progress) {
  ActiveJob* job = state_.jobs.FindAttempt(from.ref.job, from.ref.attempt);
  if (job == nullptr || job->phase() != Phase::kAssigned) return;
  const model::Stage stage = progress.stage;
  const int step = progress.step;
  const bool new_stage = stage != job->stage;
  const bool new_step = step != job->step;
  if (new_stage) {
    job->stage_since = ports_.clock.Monotonic();
    job->clock.Enter(model::PartOf(stage), job->stage_since);
  }
  job->stage = stage;
  job->step = step;
  if (stage > model::Stage::kQueue && job->started == absl::InfiniteDuration()) StartRun(*job);
  if (HeldJob* held = state_.roster.FindHeld(job->id)) {
    held->left = job->cost.Left(step);
    held->started |= stage > model::Stage::kQueue;
    NoteRun(*job, *held);
  }
  // Others may have waited for its steps.
  if (new_stage) state_.jobs.MarkChanged();
  // The first step, the last one and each change of stage are always sent.
  const bool edge = new_step && (step == 1 || step == progress.num_steps);
  progress_.AddAtWorker(*job, new_stage || edge);
}

void Reports::NoteRun(const ActiveJob& job, HeldJob& held) {
  // It was past its last step when it was to be parked.
  if (job.stage > model::Stage::kDenoise) held.parked_for.clear();
  if (job.stage != model::Stage::kDenoise || held.ran_enough || held.parked()) return;
  const absl::Duration now = ports_.clock.Monotonic();
  held.stepped_since = std::min(held.stepped_since, now);
  held.ran_enough =
      job.step - held.stepped_from >= kLeastStepsRun && now - held.stepped_since >= kLeastTimeRun;
  if (held.ran_enough) state_.jobs.MarkChanged();  // somebody may wait for that
}

// QUEUED to RUNNING: no need to wait for the store, since after a crash it is QUEUED.
void Reports::StartRun(ActiveJob& job) {
  job.started = ports_.clock.Monotonic();
  job.log->Edit([&](Video& video) {
    video.state = VideoState::kRunning;
    video.start_time = ports_.clock.Wall();
  });
  records_.Record(job, RowStarted{}, nullptr);
  // Of a job that starts again the wait has been told.
  if (!std::exchange(job.told_start, true)) {
    ports_.observer.JobStarted(job.log->Snapshot(), job.started - job.accepted);
  }
}

void Reports::On(const WorkerReport& from, JobPreview preview) {
  ActiveJob* job = state_.jobs.FindAttempt(from.ref.job, from.ref.attempt);
  if (job == nullptr || job->phase() != Phase::kAssigned) return;
  job->log->AddPreview(ports_.clock.Wall(), std::move(preview));
}

void Reports::MediaAppended(const JobRef& ref, const MediaGrowth& growth) {
  ActiveJob* job = state_.jobs.FindAttempt(ref.job, ref.attempt);
  if (job == nullptr) return;
  const Phase phase = job->phase();
  // A job may have its last bytes written after its worker has reported the end of it.
  if (phase != Phase::kAssigned && phase != Phase::kFinishing) return;
  const absl::StatusOr<int64_t>& size = growth.size;
  if (size.ok()) return GrowMedia(*job, growth);
  // Of a job that is finishing the digest fails, and says so.
  if (absl::IsAborted(size.status()) || phase != Phase::kAssigned) return;
  const Reason reason = ReasonOf(size.status()).value_or(Reason::kInternal);
  endings_.Fail(*job, JobEvent::kEnded,
                Endings::ErrorOf(*job, reason, std::string(size.status().message())));
}

void Reports::GrowMedia(ActiveJob& job, const MediaGrowth& growth) {
  const int64_t size = *growth.size;
  const absl::Status room = state_.bytes.Grow(job, size);
  if (!room.ok()) {
    // The next one of its kind is refused before it costs a step.
    state_.costs.LearnOutput(job.need.shape, size);
    // Of a job that is finishing the whole file is judged.
    if (job.phase() == Phase::kAssigned) endings_.Fail(job, JobEvent::kEnded, room);
    return;
  }
  job.first_media = std::min(job.first_media, ports_.clock.Monotonic());
  if (!growth.content_type.empty()) {
    job.log->Edit([&](Video& video) { video.media.content_type = growth.content_type; });
  }
  job.log->GrowMedia(job.attempt, size, growth.fragment_end);
}

void Reports::On(const WorkerReport& from, const Stepped& stepped) {
  ports_.observer.PromptsRead(stepped.prompts);
  ports_.observer.WorkerHolds(from.worker, stepped.held);
  if (!stepped.steps.empty()) {
    ports_.observer.AdaptersUploaded(stepped.steps.front().model, stepped.adapters);
  }
  if (stepped.millijoules > 0) {
    ports_.observer.EnergyTaken(from.worker, static_cast<double>(stepped.millijoules) / 1000);
  }
  for (const StepSample& sample : stepped.steps) {
    ports_.observer.Stepped(from.worker, sample);
    if (sample.stage != model::Stage::kDenoise || IsShadow(from.worker, sample)) continue;
    Learn(from.worker, sample);
    limits_.Renew(from.worker);
  }
}

// Costs are learned from jobs: admission knows what those ask for.
bool Reports::IsShadow(const std::string& worker, const StepSample& sample) const {
  const PlannedWorker* there = state_.roster.Find(worker);
  return there != nullptr && there->shadow && sample.jobs.size() == 1 &&
         sample.jobs[0] == there->shadow->id;
}

SeenStep Reports::SeenOf(const std::string& worker, const StepSample& sample) const {
  SeenStep seen;
  seen.model = sample.model;
  seen.plan = sample.plan;
  seen.rows = sample.rows;
  if (const PlannedWorker* there = state_.roster.Find(worker)) {
    seen.where = state_.roster.WhereOf(*there, sample.model);
  }
  seen.shared = sample.jobs.size() > 1;
  seen.reused = sample.reused > 0;
  for (size_t i = 0; i < sample.jobs.size() && i < sample.job_rows.size(); ++i) {
    const HeldJob* held = state_.roster.FindHeld(sample.jobs[i]);
    if (held == nullptr || held->shape.passes.empty()) continue;
    const model::PassWork& pass = held->shape.PassWith(sample.job_rows[i]);
    seen.attention += pass.rows * pass.tokens;
    if (seen.shared) continue;
    seen.rows = pass.rows;
    seen.condition_pixels = held->shape.condition_pixels;
  }
  // Of jobs that nobody knows any more: as of one with guidance.
  if (seen.attention == 0) seen.attention = seen.rows * seen.rows / 2;
  return seen;
}

void Reports::Learn(const std::string& worker, const StepSample& sample) {
  state_.costs.LearnStep(SeenOf(worker, sample), sample.duration);
  PlannedWorker* there = state_.roster.Find(worker);
  // It may have room now.
  if (there != nullptr && there->SawStep(sample)) state_.jobs.MarkChanged();
  for (const std::string& id : sample.jobs) {
    ActiveJob* job = state_.jobs.Find(id);
    if (job != nullptr) job->cost = state_.costs.Predict(job->need.shape);
  }
}

}  // namespace reel::front
