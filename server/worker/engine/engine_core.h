// SPDX-License-Identifier: Apache-2.0
// The engine's inside. The loop is in engine.cc, what commands do in engine_commands.cc, of models
// in engine_models.cc, steps in engine_steps.cc, and the other pieces that move a job in
// engine_pieces.cc.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_timer.h"
#include "server/errors/error.h"
#include "server/worker/engine/batch.h"
#include "server/worker/engine/company_gains.h"
#include "server/worker/engine/engine.h"
#include "server/worker/engine/file_end.h"
#include "server/worker/engine/held_job.h"
#include "server/worker/engine/inbox.h"
#include "server/worker/engine/memory_watch.h"
#include "server/worker/engine/model_loader.h"
#include "server/worker/engine/piece_clock.h"
#include "server/worker/engine/sample_rule.h"
#include "server/worker/engine/step_row.h"
#include "server/worker/engine/trial_video.h"
#include "server/worker/engine/turns.h"

namespace reel::worker {

// Confined to the engine thread, but for the inbox and the clock.
class Engine::Impl {
 public:
  Impl(EngineOptions options, const kernels::KernelCatalog& catalog, EngineEvents& events)
      : options_(std::move(options)),
        catalog_(catalog),
        events_(events),
        samples_({.every = options_.timer == nullptr ? 0 : options_.kernel_sample_every,
                  .distance = options_.stream.device < 0 ? absl::ZeroDuration() : kSampleDistance}),
        memory_(options_.read_memory),
        energy_(options_.read_energy, SteadyNow()),
        loader_(options_.stream, options_.counted, [this] { inbox_.Wake(); }) {}

  void Run();
  Inbox& inbox() { return inbox_; }
  const PieceClock& clock() const { return clock_; }

 private:
  // On a device a timed step runs without its recorded graph, which can take twice the time.
  static constexpr absl::Duration kSampleDistance = absl::Seconds(1);

  struct LoadedModel {
    std::unique_ptr<model::Pipeline> pipeline;
    int64_t bytes = 0;            // of device memory that loading it took
    bool replaced = false;        // it came while jobs were admitted by another one's card
    model::CountedBytes weights;  // where they are counted
  };
  struct Trial {
    TrialVideo video;
    bool is_canary = false;
    absl::Duration took = absl::ZeroDuration();
    bool told = false;  // in the log
  };
  // Loaded, and not tried out to the end.
  struct Candidate {
    std::string model;
    int64_t revision = 0;
    LoadedModel loaded;
    std::deque<Trial> trials;  // of its pipeline
    std::vector<WarmedUp> warm_ups = {};
  };

  // A step that stands still between two pieces of it, or is about to be made as a whole.
  struct StepUnderWay {
    Batch batch;
    std::unique_ptr<model::StepInPieces> pieces;  // null: as a whole
    kernels::KernelTimer* timer = nullptr;        // null: its operators are not timed
    kernels::KernelCounters counters;
    absl::Duration took;                                   // so far, by itself
    bool is_interrupted = false, was_interrupted = false;  // its jobs are put down
  };

  // Commands.
  void CarryOut(LoadModel& command);
  void CarryOut(UnloadModel& command);
  void CarryOut(Assignment& command);
  void CarryOut(ReorderJob& command);
  void CarryOut(ParkJob& command);
  void CarryOut(ResumeJob& command);
  void CarryOut(CancelJob& command);
  void CarryOut(DrainEngine& command);
  void Resume(HeldJob& job);

  // Models.
  // Of one that is loaded on demand: what it would be.
  void LookAt(const model::LoadOptions& options);
  // With its weights, where they are counted; the error says that they do not fit.
  absl::StatusOr<LoadedModel> Loaded(absl::StatusOr<std::unique_ptr<model::Pipeline>> pipeline);
  // Tries it out first, if there is something to try.
  void Add(Candidate candidate);
  void Adopt(Candidate candidate);
  void TakeLoaded();
  TrialVideo::Stage StageOf(const Candidate& candidate) const {
    return {*candidate.loaded.pipeline, catalog_, options_.stream, options_.limits};
  }
  void AddWarmUps(const model::WarmUp& warm_up, Candidate& candidate) const;
  static void LogWarmUp(const Candidate& candidate, const Trial& trial);
  // A piece of the first candidate's first trial; false: there is none.
  bool TryCandidate();
  void RefuseCandidate(const std::string& model, int64_t revision, const absl::Status& why);
  // Whether it has neither been unloaded nor been asked for again since.
  bool IsAwaited(const std::string& model, int64_t revision) const;
  void DropUnusedModels();

  // Why a job cannot be held; OK after filling pipeline and plan.
  absl::Status Admit(const Assignment& command, HeldJob& job);

  // Pieces. Each ends with the job further on, waiting, or gone.
  bool MoveOne();
  // Until somebody can move again.
  void Rest();
  static Turns::Beside BesideOf(const HeldJob* piece, const Batch& batch);
  static absl::Duration LastStepOf(const Batch& batch);
  static bool IsUnderWay(const Batch& batch);
  void MovePiece(HeldJob& job);
  void Create(HeldJob& job);
  // The decoded conditions into the spec; OK when there are none.
  absl::Status TakeConditions(HeldJob& job);
  void Begin(HeldJob& job);
  // Puts down a job that a piece moved, or that was parked or resumed.
  static void PutDown(HeldJob& job) { job.clock.Enter(job.waits_in(), ClockNow()); }
  static absl::Duration ClockNow() { return SteadyNow() - absl::UnixEpoch(); }
  void TextPieceDone(HeldJob& job, absl::Duration took, const kernels::KernelCounters& counters);
  // Of the operators that were just timed, from the first to the last; the host's time of their
  // piece where the timer does not know.
  absl::Duration TimedLength(absl::Duration took) const {
    const int64_t span = options_.timer->TakenSpan();
    return span > 0 ? absl::Nanoseconds(span) : took;
  }
  // A piece of one job alone, with its operators where they were timed.
  void ReportPiece(HeldJob& job, model::Stage stage, absl::Duration took, bool timed);
  void MakePreview(HeldJob& job);
  void Decode(HeldJob& job);
  void StartDecoding(HeldJob& job);
  // All frames are with the encoder, which ends the job.
  void StartEncoding(HeldJob& job);
  kernels::KernelTimer* TimerIf(bool timed) const { return timed ? options_.timer : nullptr; }
  // The device's memory before a piece, and after one that moved these jobs.
  void BeginMemory() { memory_.Begin(KeptBytes()); }
  void NoteMemory(const Batch& batch);
  void NoteMemory(HeldJob& job) { NoteMemory(Batch{{&job}, 1, nullptr, {1}}); }
  void ReadMemory() { memory_.Read(KeptBytes()); }
  // Where it is not as it was told last.
  void TellMemory();
  int64_t KeptBytes() const;
  int64_t WeightBytes() const;
  // What the device took since the last reading, to the jobs that it worked for.
  void ShareEnergy(EnergyWatch::Ask ask);
  void ReportStep(const Batch& batch, model::Stage stage, absl::Duration took,
                  std::vector<kernels::VariantTime> times);

  // Steps. One that is long stands still between its pieces, in which who goes before it moves.
  // Makes it, or begins it.
  void Step(const Batch& batch);
  // Whom the step's operators are timed for; null: not at all.
  kernels::KernelTimer* TimerForStep(const Batch& batch);
  int PiecesOf(const StepUnderWay& step) const;
  // From now on its jobs are busy with it.
  static void TakeUp(const StepUnderWay& step);
  // False where none is under way, and where its job is parked.
  bool CanGoOn() const { return under_way_ != nullptr && !under_way_->batch.jobs.front()->parked; }
  // The next piece of the one that is under way.
  void GoOn();
  // Before others move. Nothing where none is under way.
  void Interrupt();
  // It comes to nothing, and its jobs make it anew: one of them leaves, or its memory is needed.
  void DropStep();
  void EndStep(const StepUnderWay& step, const std::vector<absl::Status>& statuses);
  void LearnGain(const StepUnderWay& step, const std::vector<absl::Status>& statuses);
  void AfterStep(HeldJob& job);

  // Ends of jobs.
  void EndOverdueJobs();
  void EndEncodedJobs();
  void EndEncoded(HeldJob& job);
  // What a pipeline's error means; `alone`: no other job was in the piece.
  void Blame(HeldJob& job, const absl::Status& error, bool alone);
  // The error, or that the device is lost where that is what it comes from: a library that was the
  // first to meet it may say anything.
  absl::Status Diagnosed(const absl::Status& error) const;
  // The device has no memory left for what moves.
  void OutOfMemory(HeldJob& job);
  // All that can be done without: states of parked jobs, what models and the allocator keep.
  void ReturnMemory();
  void MoveParkedToHost();
  bool OthersAreHeld(const HeldJob& job) const;
  // A small video of the model; an error says that this process is of no use any more.
  absl::Status TryDevice(model::Pipeline& pipeline);
  void Fail(HeldJob& job, Reason reason, std::string_view message, bool suspect);
  // Out of the table, with everything that it held.
  void Release(HeldJob& job);

  void Report(const JobRef& ref, WorkerEvent event) { events_.Report({{}, ref, std::move(event)}); }
  void Report(WorkerEvent event) { Report(JobRef(), std::move(event)); }

  kernels::Execution ExecutionOf(StepUnderWay& step) const {
    return Execution(*step.batch.jobs.front(), step.counters, step.timer);
  }
  kernels::Execution Execution(const HeldJob& job, kernels::KernelCounters& counters,
                               kernels::KernelTimer* timer) const {
    return {job.plan, counters, timer, options_.stream};
  }

  const EngineOptions options_;
  const kernels::KernelCatalog& catalog_;
  EngineEvents& events_;
  Inbox inbox_;
  PieceClock clock_;
  SampleRule samples_;
  std::map<std::string, LoadedModel> models_;
  std::vector<LoadedModel> leaving_;  // unloaded or replaced; each goes when its last job does
  std::map<std::string, int64_t> loading_;  // the revision that is to come, by model
  std::deque<Candidate> candidates_;
  JobTable jobs_;  // before models in death: generations belong to pipelines
  std::unique_ptr<StepUnderWay> under_way_;
  // Of the latest step, by whose a first one is judged.
  struct {
    const model::Pipeline* of = nullptr;  // compared, not looked into
    absl::Duration took;
  } row_time_;
  // Of jobs that ended early: each waits for its thread, which others may hold.
  std::vector<std::unique_ptr<VideoEncoder>> retired_;
  std::vector<std::unique_ptr<ConditionDecoder>> retired_decoders_;
  MemoryWatch memory_;
  EnergyWatch energy_;
  Turns turns_;
  CompanyGains gains_;
  StepRow row_;
  bool device_lost_ = false;
  bool draining_ = false;
  absl::Time drain_end_ = absl::InfiniteFuture();
  ModelLoader loader_;  // last: its thread wakes the inbox
};

}  // namespace reel::worker
