// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/engine.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "model/pass_work.h"
#include "server/worker/engine/engine_core.h"

namespace reel::worker {

// Between any two pieces: commands, deadlines, finished encoders. Nothing here waits but the last
// line, and that only when nobody can move.
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
    // After each piece of jobs one of a model that is to serve, so that neither waits for long.
    if (TryCandidate() || moved) continue;
    const absl::Duration slept = inbox_.WaitUntil(std::min(jobs_.FirstDeadline(), drain_end_));
    for (const auto& job : jobs_.all()) {
      if (job->phase == Phase::kEncode) job->tally.WaitedForEncoder(slept);
    }
  }
}

bool Engine::Impl::MoveOne() {
  HeldJob* lead = jobs_.FirstThatCanStep();
  const Batch batch = lead == nullptr ? Batch() : PickBatch(jobs_, *lead, options_.fill_rows);
  HeldJob* piece = PickPiece(jobs_, batch);
  if (piece == nullptr && lead == nullptr) return false;
  const bool step = piece == nullptr || (step_is_due_ && IsUnderWay(batch) && !piece->preview_due);
  if (step) {
    step_is_due_ = false;
    Step(batch);
  } else {
    // What comes with no work of a device holds nobody up.
    step_is_due_ |= piece->phase != Phase::kCreate;
    MovePiece(*piece);
  }
  return true;
}

// Before its first step a batch waits for all that are to share it.
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
    Fail(*job, Reason::kDeadlinePassed, "The deadline passed while the video was rendered", false);
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
  const auto file = job.encoder->result();
  if (!file.ok() || job.phase != Phase::kEncode || file->num_frames != job.spec.num_frames) {
    Fail(job, Reason::kEncoderFault, "The video encoder failed", false);
    return;
  }
  JobFinished result;
  const auto passes = model::PassesOf(job.spec, job.pipeline->card());
  result.stats = job.tally.Stats(options_.device, model::LargestOf(passes).tokens);
  result.stats.parts = job.clock.Parts(ClockNow());
  result.stats.spans = job.clock.Spans(ClockNow());
  result.stats.prompt_tokens = job.texts.prompt_tokens;
  result.stats.negative_prompt_tokens = job.texts.negative_prompt_tokens;
  result.notices = std::move(job.texts.notices);
  result.media.content_type = file->content_type;
  result.media.size_bytes = file->size_bytes;
  result.media.duration = file->duration;
  const JobRef ref = job.ref;
  Release(job);
  Report(ref, std::move(result));
}

void Engine::Impl::Release(HeldJob& job) {
  const std::unique_ptr<HeldJob> held = jobs_.Remove(job);
  if (held->conditions != nullptr && !held->conditions->done()) {
    held->conditions->Abandon();
    retired_decoders_.push_back(std::move(held->conditions));
  }
  if (held->encoder == nullptr || held->encoder->done()) return;
  // Its thread may be held by whoever takes the bytes: to wait for it here would stop everybody.
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
