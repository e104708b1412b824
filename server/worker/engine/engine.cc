// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/engine.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "server/worker/engine/engine_core.h"

namespace reel::worker {
namespace {

// While nothing moves.
constexpr absl::Duration kLookAtMemoryEvery = absl::Seconds(2);
// After a job has come while another was rendered more are expected for so long.
constexpr absl::Duration kMoreComeFor = absl::Minutes(2);

}  // namespace

// What happens between any two pieces: commands, deadlines, finished encoders. Only the last line
// waits, and only if no job can move.
void Engine::Impl::Run() {
  for (;;) {
    for (EngineCommand& command : inbox_.Take()) {
      std::visit([this](auto& c) { CarryOut(c); }, command);
    }
    if (inbox_.stopped() || device_lost_) return;
    EndOverdueJobs();
    EndEncodedJobs();
    DropUnusedModels();
    if (draining_ && (jobs_.all().empty() || SteadyNow() >= drain_end_)) {
      while (!jobs_.all().empty()) Release(*jobs_.all().back());
      events_.Drained();
      return;
    }
    const bool moved = MoveOne();
    if (device_lost_) return;
    // One piece of a candidate model after each step or piece of jobs, so that neither waits for
    // long.
    if ((!CanGoOn() && TryCandidate()) || moved) continue;
    Rest();
  }
}

void Engine::Impl::Rest() {
  const absl::Time since = SteadyNow();
  for (const auto& job : jobs_.all()) {
    if (job->phase == Phase::kEncode) job->file_end->EngineRests(since);
  }
  absl::Time until = std::min(jobs_.FirstDeadline(), drain_end_);
  if (memory_.reads()) {
    // Other processes change it without notice.
    ReadMemory();
    const bool keeps_too_much =
        options_.memory_bytes > 0 && memory_.last().reserved > options_.memory_bytes;
    if (keeps_too_much && options_.return_memory) {
      options_.return_memory();
      ReadMemory();
    }
    until = std::min(until, since + kLookAtMemoryEvery);
  }
  TellMemory();
  inbox_.WaitUntil(until);
  // Memory allocated meanwhile belongs to no job.
  ShareEnergy(EnergyWatch::Ask::kIfDue);
  const absl::Time now = SteadyNow();
  for (const auto& job : jobs_.all()) {
    if (job->phase == Phase::kEncode) job->file_end->EngineMoves(now);
  }
}

bool Engine::Impl::MoveOne() {
  HeldJob* lead = jobs_.FirstThatCanStep();
  // In the middle of a step only jobs that go before it step.
  const bool goes_on = CanGoOn() && (lead == nullptr || !GoesBefore(*lead, under_way_->batch));
  const Batch batch =
      goes_on ? under_way_->batch
      : lead == nullptr
          ? Batch()
          : PickBatch(jobs_, *lead,
                      {options_.fill_rows, &gains_, SteadyNow(), options_.most_jobs_in_step,
                       SteadyNow() - last_beside_ < kMoreComeFor});
  HeldJob* piece = PickPiece(jobs_, batch);
  if (piece == nullptr && batch.jobs.empty()) return false;
  const Turns::Beside beside = BesideOf(piece, batch);
  // Before its first step a batch waits for all jobs that will share it, but not for frames of
  // others.
  const bool takes_turns = IsUnderWay(batch) || beside == Turns::Beside::kDecoding;
  const bool steps = piece == nullptr || (takes_turns && !piece->preview_due &&
                                          turns_.StepIsDue(beside, LastStepOf(batch)));
  if (steps && goes_on) {
    GoOn();
    return true;
  }
  Interrupt();
  if (steps) {
    Step(batch);
    return true;
  }
  // A piece without device work is not charged to the turn.
  const bool counts = piece->phase != Phase::kCreate;
  const absl::Time began = SteadyNow();
  row_.Break();
  MovePiece(*piece);
  if (counts) turns_.Moved(beside, SteadyNow() - began);
  return true;
}

Turns::Beside Engine::Impl::BesideOf(const HeldJob* piece, const Batch& batch) {
  const bool is_of_others = piece != nullptr && piece->phase == Phase::kDecode &&
                            !batch.jobs.empty() && !piece->GoesBefore(*batch.jobs.front());
  return is_of_others ? Turns::Beside::kDecoding : Turns::Beside::kAhead;
}

absl::Duration Engine::Impl::LastStepOf(const Batch& batch) {
  absl::Duration longest;
  for (const HeldJob* job : batch.jobs) longest = std::max(longest, job->last_step);
  return longest;
}

bool Engine::Impl::IsUnderWay(const Batch& batch) {
  return std::any_of(batch.jobs.begin(), batch.jobs.end(),
                     [](const HeldJob* job) { return job->generation->step() > 0; });
}

void Engine::Impl::MovePiece(HeldJob& job) {
  if (job.preview_due) return MakePreview(job);
  if (job.phase == Phase::kCreate) return Create(job);
  if (job.phase == Phase::kBegin) return Begin(job);
  Decode(job);
}

void Engine::Impl::EndOverdueJobs() {
  const absl::Time now = SteadyNow();
  std::vector<HeldJob*> overdue;
  for (const auto& job : jobs_.all()) {
    if (job->deadline <= now) overdue.push_back(job.get());
  }
  for (HeldJob* job : overdue) {
    Fail(*job, Reason::kDeadlinePassed, kDeadlinePassedText, false);
  }
}

void Engine::Impl::EndEncodedJobs() {
  std::erase_if(retired_, [](const auto& encoder) { return encoder->done(); });
  std::erase_if(retired_decoders_, [](const auto& decoder) { return decoder->done(); });
  std::vector<HeldJob*> ended;
  for (const auto& job : jobs_.all()) {
    if (job->encoder != nullptr && job->encoder->done()) ended.push_back(job.get());
  }
  for (HeldJob* job : ended) EndEncoded(*job);
}

void Engine::Impl::EndEncoded(HeldJob& job) {
  if (job.file_end->Claim()) {
    Fail(job, Reason::kEncoderFault, "The video encoder failed", false);
  } else {
    Release(job);  // its end has been reported
  }
}

void Engine::Impl::Release(HeldJob& job) {
  if (job.in_step) DropStep();
  const std::unique_ptr<HeldJob> held = jobs_.Remove(job);
  // A dropped job sends no report.
  if (held->file_end != nullptr) held->file_end->Claim();
  if (held->conditions != nullptr && !held->conditions->done()) {
    held->conditions->Abandon();
    retired_decoders_.push_back(std::move(held->conditions));
  }
  if (held->encoder == nullptr || held->encoder->done()) return;
  // Whoever takes the bytes may hold its thread: waiting for it here would stop all jobs.
  held->encoder->Abandon();
  retired_.push_back(std::move(held->encoder));
}

Engine::Engine(EngineOptions options, const kernels::KernelCatalog& catalog, EngineEvents& events)
    : impl_(std::make_unique<Impl>(std::move(options), catalog, events)) {}
Engine::~Engine() = default;

void Engine::Post(EngineCommand command) { impl_->inbox().Post(std::move(command)); }
void Engine::Run() { impl_->Run(); }
void Engine::Stop() { impl_->inbox().Stop(); }
absl::Duration Engine::in_step() const { return impl_->clock().in_piece(); }

}  // namespace reel::worker
