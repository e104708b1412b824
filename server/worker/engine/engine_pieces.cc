// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_timer.h"
#include "model/pass_work.h"
#include "server/worker/engine/engine_core.h"
#include "server/worker/engine/file_format.h"
#include "server/worker/engine/file_origin.h"
#include "server/worker/engine/kept_states.h"
#include "server/worker/media/jpeg.h"

namespace reel::worker {
namespace {

using model::Stage;

}  // namespace

absl::Status Engine::Impl::TakeConditions(HeldJob& job) {
  if (job.conditions == nullptr) return absl::OkStatus();
  REEL_ASSIGN_OR_RETURN(job.spec.conditions, job.conditions->result());
  job.conditions = nullptr;
  return absl::OkStatus();
}

void Engine::Impl::Create(HeldJob& job) {
  if (const absl::Status status = TakeConditions(job); !status.ok()) {
    const bool invalid = absl::IsInvalidArgument(status);
    Fail(job, invalid ? Reason::kInvalidSpec : Reason::kInternal, std::string(status.message()),
         invalid);
    return;
  }
  Report(job.ref, JobProgress{Stage::kTextEncode, 0, job.spec.num_steps()});
  // It may be on the host because memory was short before.
  if (job.assigned_alone) ReturnMemory();
  job.times_text = samples_.TakeStage(SteadyNow());
  job.clock.Enter(model::RunPart::kText, ClockNow(), {.timed = job.times_text});
  kernels::KernelCounters counters;
  BeginMemory();
  PieceClock::Piece piece(clock_);
  auto generation = MakeGeneration(job, Execution(job, counters, TimerIf(job.times_text)));
  NoteMemory(job);
  TextPieceDone(job, piece.elapsed(), counters);
  if (job.made && absl::IsFailedPrecondition(generation.status())) {
    Fail(job, Reason::kStateNotForModel, UnusableSource(generation.status()), false);
    return;
  }
  if (!generation.ok()) {
    Blame(job, generation.status(), true);
    return;
  }
  job.generation = *std::move(generation);
  // The generation has copied what it needs of them.
  for (model::Condition& condition : job.spec.conditions) {
    condition.pixels = nullptr;
    condition.sound = condition.carried_sound = nullptr;
    if (!KeepsBytesOfConditions(job.spec)) condition.bytes = nullptr;
  }
  job.phase = Phase::kBegin;
}

void Engine::Impl::TextPieceDone(HeldJob& job, absl::Duration took,
                                 const kernels::KernelCounters& counters) {
  PutDown(job);
  job.tally.TextEncoded(took);
  job.tally.Used(counters.Uses());
  ReportPiece(job, Stage::kTextEncode, took, job.times_text);
}

void Engine::Impl::ReportPiece(HeldJob& job, Stage stage, absl::Duration took, bool timed) {
  std::vector<kernels::VariantTime> times;
  if (timed) {
    times = options_.timer->Take();
    job.tally.Timed(stage, TimedLength(took), times);
  }
  const int64_t rows = job.rows();
  ReportStep({{&job}, rows, nullptr, {rows}}, stage, took, std::move(times));
}

void Engine::Impl::Begin(HeldJob& job) {
  job.clock.Enter(model::RunPart::kText, ClockNow(), {.timed = job.times_text});
  kernels::KernelCounters counters;
  BeginMemory();
  PieceClock::Piece piece(clock_);
  const auto ready =
      job.pipeline->BeginNext(*job.generation, Execution(job, counters, TimerIf(job.times_text)));
  NoteMemory(job);
  TextPieceDone(job, piece.elapsed(), counters);
  if (!ready.ok()) {
    Blame(job, ready.status(), true);
  } else if (*ready) {
    job.phase = Phase::kDenoise;
    job.texts = job.generation->text_facts();
    TellRetake(job);
    Report(job.ref, JobProgress{Stage::kDenoise, 0, job.generation->num_steps()});
  }
}

void Engine::Impl::MakePreview(HeldJob& job) {
  job.preview_due = false;
  const int side = job.spec.preview.max_side;
  job.clock.Enter(model::RunPart::kPreview, ClockNow());
  kernels::KernelCounters counters;
  BeginMemory();
  PieceClock::Piece piece(clock_);
  const auto image =
      job.pipeline->Preview(*job.generation, side, Execution(job, counters, nullptr));
  job.tally.Previewed(piece.elapsed());
  NoteMemory(job);
  PutDown(job);
  const absl::Status error = Diagnosed(image.status());
  if (absl::IsAborted(error) || absl::IsDataLoss(error)) {
    Blame(job, error, true);
    return;
  }
  // Previews are optional: skip one that fails.
  if (!image.ok()) return;
  auto jpeg = EncodeJpeg(*image, side);
  if (!jpeg.ok()) return;
  Report(job.ref,
         JobPreview{job.generation->step(), std::move(jpeg->bytes), jpeg->width, jpeg->height});
}

absl::Status Engine::Impl::StartDecoding(HeldJob& job) {
  EncoderOptions options;
  REEL_ASSIGN_OR_RETURN(options.origin, OriginOfFile(job, catalog_, options_.device));
  options.format = FormatOfFile(job.spec, job.pipeline->card());
  options.begin = job.begin;
  options.lanes = EncoderLanes(options_.encoder_threads);
  job.file_end = std::make_shared<FileEnd>(events_);
  job.encoder = std::make_unique<VideoEncoder>(
      std::move(options),
      [this, ref = job.ref, end = job.file_end, keeps = KeepsFile(job.spec)](
          int64_t offset, std::string bytes, bool fragment_end) {
        if (keeps) end->Keep(bytes);
        Report(ref, JobMedia{offset, std::move(bytes), fragment_end});
      },
      [this] { inbox_.Wake(); },
      [end = job.file_end](const absl::StatusOr<EncodedFile>& file) {
        end->Complete(file, SteadyNow());
      });
  return absl::OkStatus();
}

absl::Status Engine::Impl::PrepareDecode(HeldJob& job) {
  const bool ends = !job.has_steps_left() && !std::exchange(job.told_decoding, true);
  if (ends) REEL_RETURN_IF_ERROR(TakeState(job));
  if (job.encoder == nullptr) {
    REEL_RETURN_IF_ERROR(StartDecoding(job));
    job.times_decode = samples_.TakeStage(SteadyNow());
  }
  const int steps = job.generation->num_steps();
  // While there are steps left it denoises.
  if (ends) Report(job.ref, JobProgress{job.next_of_decode(), steps, steps});
  return absl::OkStatus();
}

void Engine::Impl::Decode(HeldJob& job) {
  if (const absl::Status status = PrepareDecode(job); !status.ok()) {
    Blame(job, status, true);
    return;
  }
  const Stage stage = job.next_of_decode();
  kernels::KernelCounters counters;
  job.clock.Enter(model::PartOf(stage), ClockNow(), {.timed = job.times_decode});
  absl::StatusOr<bool> last = false;
  absl::Duration took;
  BeginMemory();
  {
    PieceClock::Piece piece(clock_);
    last = job.pipeline->DecodeNext(*job.generation, *job.encoder,
                                    Execution(job, counters, TimerIf(job.times_decode)));
    took = piece.elapsed();
  }
  PutDown(job);
  stage == Stage::kSound ? job.tally.Sounded(took) : job.tally.Decoded(took);
  job.tally.Used(counters.Uses());
  NoteMemory(job);
  ReportPiece(job, stage, took, job.times_decode);
  if (!last.ok()) {
    // The sink's error comes back through the pipeline; the encoder itself has the details.
    if (!job.encoder->done()) Blame(job, last.status(), true);
    return;
  }
  if (job.told_decoding && stage != job.next_of_decode()) {
    const int steps = job.generation->num_steps();
    Report(job.ref, JobProgress{Stage::kDecode, steps, steps});
  }
  *last ? StartEncoding(job) : job.ChoosePhase();
}

void Engine::Impl::StartEncoding(HeldJob& job) {
  ShareEnergy(EnergyWatch::Ask::kNow);
  const int steps = job.generation->num_steps();
  const auto audio_tokens = static_cast<int>(job.generation->audio_tokens());
  const int64_t adapter_ranks = job.generation->adapter_ranks();
  job.generation = nullptr;
  job.phase = Phase::kEncode;
  PutDown(job);
  Report(job.ref, JobProgress{Stage::kEncode, steps, steps});
  FileEnd::Success success{job.ref, job.deadline, job.spec.file_frames(), steps,
                           {},      job.clock,    std::move(job.state)};
  const auto passes = model::PassesOf(job.spec, job.pipeline->card());
  success.finished.stats = job.tally.Stats(options_.device, model::LargestOf(passes).tokens);
  success.finished.stats.adapter_ranks = static_cast<int>(adapter_ranks);
  success.finished.stats.streamed_bytes =
      job.tally.done_steps() * job.pipeline->card().streamed_bytes;
  success.finished.stats.audio_tokens = audio_tokens;
  success.finished.stats.prompt_tokens = job.texts.prompt_tokens;
  success.finished.stats.negative_prompt_tokens = job.texts.negative_prompt_tokens;
  success.finished.notices = std::move(job.texts.notices);
  success.finished.memory_bytes = job.tally.own_memory();
  job.file_end->Expect(std::move(success));
  job.encoder->Finish();
}

HeldBytes Engine::Impl::Held() const {
  HeldBytes held;
  const auto add = [&held](const LoadedModel& model) {
    held.adapters += model.pipeline->adapter_bytes();
    held.host_weights += model.pipeline->card().host_bytes;
  };
  for (const auto& [name, model] : models_) add(model);
  for (const LoadedModel& model : leaving_) add(model);
  for (const Candidate& next : candidates_) add(next.loaded);
  return held;
}

int64_t Engine::Impl::KeptBytes() const {
  int64_t kept = 0;
  for (const auto& [name, model] : models_) kept += model.pipeline->kept_bytes();
  for (const LoadedModel& model : leaving_) kept += model.pipeline->kept_bytes();
  return kept;
}

int64_t Engine::Impl::WeightBytes() const {
  int64_t weights = 0;
  for (const auto& [name, model] : models_) weights += model.bytes;
  for (const LoadedModel& model : leaving_) weights += model.bytes;
  for (const Candidate& next : candidates_) weights += next.loaded.bytes;
  return weights;
}

void Engine::Impl::NoteMemory(const Batch& batch) {
  if (!memory_.reads()) return;
  const MemoryWatch::Growth growth = memory_.End(KeptBytes());
  const int64_t held = memory_.last().peak - WeightBytes();
  const auto rows = static_cast<double>(std::max<int64_t>(batch.rows, 1));
  for (size_t i = 0; i < batch.jobs.size(); ++i) {
    JobTally& tally = batch.jobs[i]->tally;
    tally.HoldsMemory(held);
    // Memory that another thread's load used meanwhile belongs to no job.
    if (!loading_.empty()) {
      tally.MissedMemory();
      continue;
    }
    const double share = static_cast<double>(batch.job_rows[i]) / rows;
    tally.TookMemory(static_cast<int64_t>(share * static_cast<double>(growth.peak)),
                     static_cast<int64_t>(share * static_cast<double>(growth.stays)));
  }
}

void Engine::Impl::TellMemory() {
  if (memory_.TakeChanged() || Held() != told_held_) ReportNow({});
}

void Engine::Impl::ReportNow(Stepped report) {
  report.memory = memory_.last();
  report.millijoules = energy_.TakeUntold();
  report.held = told_held_ = Held();
  Report(std::move(report));
}

void Engine::Impl::ShareEnergy(EnergyWatch::Ask ask) {
  const auto reading = energy_.Read(SteadyNow(), ask);
  if (!reading) return;
  const double joules = static_cast<double>(reading->millijoules) / 1000;
  for (const auto& job : jobs_.all()) job->tally.TookEnergy(joules, reading->since);
}

void Engine::Impl::ReportStep(const Batch& batch, Stage stage, absl::Duration took,
                              std::vector<kernels::VariantTime> times) {
  StepSample sample;
  for (const HeldJob* job : batch.jobs) {
    sample.jobs.push_back(job->ref.job);
    if (stage != Stage::kDenoise) continue;
    sample.reused += job->generation->reused_steps() > job->tally.reused_steps() ? 1 : 0;
  }
  sample.job_rows = batch.job_rows;
  sample.model = batch.jobs.front()->spec.model;
  sample.plan = batch.jobs.front()->plan.name();
  sample.rows = batch.rows;
  sample.duration = took;
  sample.stage = stage;
  sample.kernels = std::move(times);
  if (stage == Stage::kDenoise && batch.jobs.size() > 1 && sample.kernels.empty()) {
    sample.apart = gains_.Apart(SharersOf(batch)).value_or(absl::ZeroDuration());
  }
  sample.left_out = static_cast<int>(batch.num_left_out());
  if (stage == Stage::kDenoise) {
    sample.streamed_bytes = batch.jobs.front()->pipeline->card().streamed_bytes;
  }
  Stepped report;
  report.steps.push_back(std::move(sample));
  memory_.TakeChanged();
  ShareEnergy(EnergyWatch::Ask::kIfDue);
  report.prompts = batch.jobs.front()->pipeline->TakePromptCounts();
  report.adapters = batch.jobs.front()->pipeline->TakeAdapterCounts();
  batch.jobs.front()->tally.AdaptersUploaded(absl::Nanoseconds(report.adapters.nanoseconds));
  ReportNow(std::move(report));
}

}  // namespace reel::worker
