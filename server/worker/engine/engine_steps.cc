// SPDX-License-Identifier: Apache-2.0
// Makes steps of batches: whole, or in pieces if they take long.
#include <algorithm>
#include <utility>

#include "kernels/dispatch/kernel_timer.h"
#include "server/worker/engine/engine_core.h"

namespace reel::worker {
namespace {

using model::Stage;

// A step that takes as long as several of these is suspended after about each of them. So a
// newcomer waits for two at most: the one running, and the one already queued on the device.
constexpr absl::Duration kPiece = absl::Milliseconds(25);

std::vector<model::Generation*> GenerationsOf(const Batch& batch) {
  std::vector<model::Generation*> generations;
  for (HeldJob* job : batch.jobs) generations.push_back(job->generation.get());
  return generations;
}

double ShareOf(const Batch& batch, size_t job) {
  return static_cast<double>(batch.job_rows[job]) /
         static_cast<double>(std::max<int64_t>(batch.rows, 1));
}

SampleRule::Step SampleStepOf(const Batch& batch) {
  SampleRule::Step step;
  for (const HeldJob* job : batch.jobs) {
    const int done = job->generation->step();
    step.is_first_of_one |= done == 0;
    if (done == 0 || job->tally.has_timed_step()) continue;
    step.is_owed = true;
    step.is_last_chance |= done + 1 >= job->generation->num_steps();
  }
  return step;
}

}  // namespace

kernels::KernelTimer* Engine::Impl::TimerForStep(const Batch& batch) {
  return TimerIf(samples_.TakeStep(SampleStepOf(batch), SteadyNow()));
}

int Engine::Impl::PiecesOf(const StepUnderWay& step) const {
  // Only one step is suspended at a time, and never one whose operators are timed.
  const bool is_last_chance = step.timer != nullptr && SampleStepOf(step.batch).is_last_chance;
  if (under_way_ != nullptr || is_last_chance) return 1;
  absl::Duration expected = LastStepOf(step.batch);
  if (expected == absl::ZeroDuration() && row_time_.of == step.batch.jobs.front()->pipeline) {
    expected = row_time_.took * step.batch.rows;
  }
  if (expected < options_.long_step) return 1;
  return static_cast<int>(std::max<int64_t>(2, expected / kPiece));
}

void Engine::Impl::TakeUp(const StepUnderWay& step) {
  for (HeldJob* job : step.batch.jobs) {
    job->clock.Enter(model::RunPart::kDenoise, ClockNow(),
                     {.step = job->generation->step() + 1,
                      .jobs = static_cast<int>(step.batch.jobs.size()),
                      .timed = step.timer != nullptr});
  }
}

void Engine::Impl::Step(const Batch& batch) {
  auto step = std::make_unique<StepUnderWay>();
  step->batch = batch;
  step->timer = TimerForStep(batch);
  TakeUp(*step);
  model::Pipeline& pipeline = *batch.jobs.front()->pipeline;
  const auto generations = GenerationsOf(batch);
  if (const int pieces = PiecesOf(*step); pieces > 1) {
    step->pieces = pipeline.BeginStep(generations, pieces, ExecutionOf(*step));
  }
  if (step->pieces != nullptr) {
    for (HeldJob* job : batch.jobs) job->in_step = true;
    under_way_ = std::move(step);
    GoOn();
    return;
  }
  std::vector<absl::Status> statuses;
  BeginMemory();
  {
    PieceClock::Piece piece(clock_);
    statuses = pipeline.Step(generations, ExecutionOf(*step));
    step->took = piece.elapsed();
  }
  NoteMemory(batch);
  EndStep(*step, statuses);
}

void Engine::Impl::GoOn() {
  StepUnderWay& step = *under_way_;
  if (std::exchange(step.is_interrupted, false)) TakeUp(step);
  std::optional<std::vector<absl::Status>> statuses;
  BeginMemory();
  {
    PieceClock::Piece piece(clock_);
    statuses = step.pieces->Next(ExecutionOf(step));
    step.took += piece.elapsed();
  }
  if (statuses.has_value()) step.pieces = nullptr;
  NoteMemory(step.batch);
  if (!statuses.has_value()) return;
  const auto ended = std::exchange(under_way_, nullptr);
  for (HeldJob* job : ended->batch.jobs) job->in_step = false;
  EndStep(*ended, *statuses);
}

void Engine::Impl::Interrupt() {
  if (under_way_ == nullptr || std::exchange(under_way_->is_interrupted, true)) return;
  under_way_->was_interrupted = true;
  for (HeldJob* job : under_way_->batch.jobs) PutDown(*job);
  // Work of others in between would count as time of its operators.
  if (under_way_->timer != nullptr) std::exchange(under_way_->timer, nullptr)->Take();
}

void Engine::Impl::DropStep() {
  if (under_way_ == nullptr) return;
  Interrupt();
  BeginMemory();
  const auto step = std::exchange(under_way_, nullptr);
  step->pieces = nullptr;
  NoteMemory(step->batch);
  for (size_t i = 0; i < step->batch.jobs.size(); ++i) {
    HeldJob& job = *step->batch.jobs[i];
    job.in_step = false;
    job.tally.StepLost(step->took, ShareOf(step->batch, i));
    job.tally.Used(step->counters.Uses());
  }
}

void Engine::Impl::EndStep(const StepUnderWay& step, const std::vector<absl::Status>& statuses) {
  const Batch& batch = step.batch;
  turns_.Stepped(step.took);
  row_time_ = {batch.jobs.front()->pipeline, step.took / std::max<int64_t>(batch.rows, 1)};
  const bool is_timed = step.timer != nullptr;
  const auto times = is_timed ? step.timer->Take() : std::vector<kernels::VariantTime>();
  const absl::Duration timed = is_timed ? TimedLength(step.took) : absl::ZeroDuration();
  const auto uses = step.counters.Uses();
  LearnGain(step, statuses);
  for (size_t i = 0; i < batch.jobs.size(); ++i) {
    HeldJob& job = *batch.jobs[i];
    PutDown(job);
    job.last_step = step.took;
    job.tally.Stepped(step.took, static_cast<int>(batch.jobs.size()), ShareOf(batch, i));
    job.tally.Used(uses);
    // A job's first step says nothing about later ones.
    if (is_timed && job.generation->step() > 1) job.tally.Timed(Stage::kDenoise, timed, times);
  }
  ReportStep(batch, Stage::kDenoise, step.took, times);
  for (size_t i = 0; i < batch.jobs.size() && !device_lost_; ++i) {
    const absl::Status status =
        i < statuses.size() ? statuses[i] : absl::InternalError("no answer");
    if (status.ok()) {
      AfterStep(*batch.jobs[i]);
    } else {
      Blame(*batch.jobs[i], status, batch.jobs.size() == 1);
    }
  }
}

void Engine::Impl::LearnGain(const StepUnderWay& step, const std::vector<absl::Status>& statuses) {
  const Batch& batch = step.batch;
  std::vector<int64_t> arrivals;
  for (const HeldJob* job : batch.jobs) arrivals.push_back(job->arrival);
  bool tells = row_.Tells(std::move(arrivals)) && step.timer == nullptr && !step.was_interrupted;
  for (const absl::Status& status : statuses) tells &= status.ok();
  for (const HeldJob* job : batch.jobs) {
    // A job's first step sets up what later ones reuse; its last one returns when it is done
    // itself.
    const int done = job->generation->step();
    tells &= done > 1 && done < job->generation->num_steps() &&
             job->generation->reused_steps() == job->tally.reused_steps();
  }
  const Sharers sharers = SharersOf(batch);
  gains_.Stepped(sharers, step.took, tells);
  if (!batch.could_share.empty()) {
    gains_.PassedOver({sharers.model, sharers.plan, batch.could_share}, batch.jobs.size(),
                      step.took);
  }
}

void Engine::Impl::AfterStep(HeldJob& job) {
  const int step = job.generation->step();
  job.tally.StepsDone(step, job.generation->reused_steps());
  const int every = job.spec.preview.every_steps;
  job.preview_due = every > 0 && step % every == 0;
  job.ChoosePhase();
  Report(job.ref, JobProgress{Stage::kDenoise, step, job.generation->num_steps()});
}

}  // namespace reel::worker
