// SPDX-License-Identifier: Apache-2.0
// The class behind the engine. engine.cc has the loop, engine_commands.cc commands,
// engine_models.cc models, engine_steps.cc steps, engine_pieces.cc the other pieces that move a
// job.
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
#include "server/worker/engine/engine.h"
#include "server/worker/engine/file_end.h"
#include "server/worker/engine/held_job.h"
#include "server/worker/engine/inbox.h"
#include "server/worker/engine/memory_watch.h"
#include "server/worker/engine/model_loader.h"
#include "server/worker/engine/piece_clock.h"
#include "server/worker/engine/sample_rule.h"
#include "server/worker/engine/sharing_gains.h"
#include "server/worker/engine/step_row.h"
#include "server/worker/engine/step_under_way.h"
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
  // A timed step on a device runs without its recorded graph, which can take twice the time.
  static constexpr absl::Duration kSampleDistance = absl::Seconds(1);

  struct LoadedModel {
    std::unique_ptr<model::Pipeline> pipeline;
    int64_t bytes = 0;            // device memory that loading used
    bool replaced = false;        // jobs were admitted by another card under its name
    model::CountedBytes weights;  // the account of weights, if any
  };
  struct Trial {
    TrialVideo video;
    bool is_canary = false;
    absl::Duration took = absl::ZeroDuration();
    bool told = false;  // in the log
  };
  // A loaded model whose trial videos are not done.
  struct Candidate {
    std::string model;
    int64_t revision = 0;
    LoadedModel loaded;
    std::deque<Trial> trials;  // of its pipeline
    std::vector<WarmedUp> warm_ups = {};
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

  // Models. Describes a model that is loaded on demand, without loading it.
  void LookAt(const model::LoadOptions& options);
  // Adds the model, and charges its weights if they are accounted; the error says that they do not
  // fit.
  absl::StatusOr<LoadedModel> Loaded(absl::StatusOr<std::unique_ptr<model::Pipeline>> pipeline);
  // Runs its trial videos first, if there are any.
  void Add(Candidate candidate);
  void Adopt(Candidate candidate);
  void TakeLoaded();
  TrialVideo::Stage StageOf(const Candidate& candidate) const {
    return {*candidate.loaded.pipeline, catalog_, options_.stream, options_.limits};
  }
  void AddWarmUps(const model::WarmUp& warm_up, Candidate& candidate) const;
  static void LogWarmUp(const Candidate& candidate, const Trial& trial);
  // One piece of the first candidate's current trial; false if there is none.
  bool TryCandidate();
  void RefuseCandidate(const std::string& model, int64_t revision, const absl::Status& why);
  // Whether it has been neither unloaded nor requested again since.
  bool IsAwaited(const std::string& model, int64_t revision) const;
  void DropUnusedModels();

  // Why a job cannot be held; OK after filling pipeline, plan and the state that it begins from.
  absl::Status Admit(Assignment& command, HeldJob& job);

  // Pieces. Each ends with the job further on, waiting, or gone.
  bool MoveOne();
  void Rest();  // until a job can move again
  static Turns::Beside BesideOf(const HeldJob* piece, const Batch& batch);
  static absl::Duration LastStepOf(const Batch& batch);
  static bool IsUnderWay(const Batch& batch);
  void MovePiece(HeldJob& job);
  void Create(HeldJob& job);
  // Puts the decoded conditions into the spec; OK if there are none.
  absl::Status TakeConditions(HeldJob& job);
  void Begin(HeldJob& job);
  // Puts down a job after a piece moved it, or after it was parked or resumed.
  static void PutDown(HeldJob& job) { job.clock.Enter(job.waits_in(), ClockNow()); }
  static absl::Duration ClockNow() { return SteadyNow() - absl::UnixEpoch(); }
  void TextPieceDone(HeldJob& job, absl::Duration took, const kernels::KernelCounters& counters);
  // The time from the first to the last operator just timed; `took` if the timer does not know.
  absl::Duration TimedLength(absl::Duration took) const {
    const int64_t span = options_.timer->TakenSpan();
    return span > 0 ? absl::Nanoseconds(span) : took;
  }
  // Reports a piece of one job alone, with its operators if they were timed.
  void ReportPiece(HeldJob& job, model::Stage stage, absl::Duration took, bool timed);
  void MakePreview(HeldJob& job);
  void Decode(HeldJob& job);
  absl::Status PrepareDecode(
      HeldJob& job);  // starts its encoder; takes its state after the last step
  absl::Status StartDecoding(HeldJob& job);
  // All frames are with the encoder, which will end the job.
  void StartEncoding(HeldJob& job);
  kernels::KernelTimer* TimerIf(bool timed) const { return timed ? options_.timer : nullptr; }
  // Reads the device's memory before a piece, and after a piece that moved these jobs.
  void BeginMemory() { memory_.Begin(KeptBytes()); }
  void NoteMemory(const Batch& batch);
  void NoteMemory(HeldJob& job) { NoteMemory(Batch{{&job}, 1, nullptr, {1}}); }
  void ReadMemory() { memory_.Read(KeptBytes()); }
  // Reports it and what models hold, if either has changed.
  void TellMemory();
  // Adds the device's memory and energy and what models hold, and sends the report.
  void ReportNow(Stepped report);
  HeldBytes Held() const;
  int64_t KeptBytes() const;
  int64_t WeightBytes() const;
  // Charges the device's energy since the last reading to the jobs that it worked for.
  void ShareEnergy(EnergyWatch::Ask ask);
  void ReportStep(const Batch& batch, model::Stage stage, absl::Duration took,
                  std::vector<kernels::VariantTime> times);

  // Steps. A long step is suspended between its pieces, in which jobs that go before it move. Makes
  // a step, or begins it.
  void Step(const Batch& batch);
  // Timer for this step's operators; null if the step is not sampled.
  kernels::KernelTimer* TimerForStep(const Batch& batch);
  int PiecesOf(const StepUnderWay& step) const;
  // From now on its jobs count as busy.
  static void TakeUp(const StepUnderWay& step);
  // False if no step is under way, or if its job is parked.
  bool CanGoOn() const { return under_way_ != nullptr && !under_way_->batch.jobs.front()->parked; }
  // Runs the next piece of the step under way.
  void GoOn();
  // Suspends the step before others move. Does nothing if none is under way.
  void Interrupt();
  // Discards the step in progress; its jobs redo it. Called when a job leaves or memory is short.
  void DropStep();
  void EndStep(const StepUnderWay& step, const std::vector<absl::Status>& statuses);
  void LearnGain(const StepUnderWay& step, const std::vector<absl::Status>& statuses);
  void AfterStep(HeldJob& job);

  // Ends of jobs.
  void EndOverdueJobs();
  void EndEncodedJobs();
  void EndEncoded(HeldJob& job);
  // Handles a pipeline's error; `alone`: no other job was in the piece.
  void Blame(HeldJob& job, const absl::Status& error, bool alone);
  // The error, or that the device is lost if that is its cause: any library may meet it first.
  absl::Status Diagnosed(const absl::Status& error) const;
  // Handles a device without free memory for the next piece.
  void OutOfMemory(HeldJob& job);
  // Frees what can be recomputed or moved: states of parked jobs, caches of models and of the
  // allocator.
  void ReturnMemory();
  void MoveParkedToHost();
  bool OthersAreHeld(const HeldJob& job) const;
  // Renders a small video of the model; an error means that this process is no longer usable.
  absl::Status TryDevice(model::Pipeline& pipeline);
  void Fail(HeldJob& job, Reason reason, std::string_view message, bool suspect);
  // Removes the job from the table, with everything that it held.
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
  std::vector<LoadedModel> leaving_;  // unloaded or replaced; each is freed when its last job ends
  std::map<std::string, int64_t> loading_;  // the revision to come, by model
  std::deque<Candidate> candidates_;
  JobTable jobs_;  // destroyed before the models: generations belong to pipelines
  std::unique_ptr<StepUnderWay> under_way_;
  // The latest step, used to judge a batch's first step.
  struct {
    const model::Pipeline* of = nullptr;  // only compared, never dereferenced
    absl::Duration took;
  } row_time_;
  // Encoders of jobs that ended early: each waits for its thread, which others may hold.
  std::vector<std::unique_ptr<VideoEncoder>> retired_;
  std::vector<std::unique_ptr<ConditionDecoder>> retired_decoders_;
  MemoryWatch memory_;
  HeldBytes told_held_;
  EnergyWatch energy_;
  Turns turns_;
  SharingGains gains_;
  StepRow row_;
  absl::Time last_beside_ = absl::InfinitePast();  // when a job came while another was rendered
  bool device_lost_ = false;
  bool draining_ = false;
  absl::Time drain_end_ = absl::InfiniteFuture();
  ModelLoader loader_;  // last member: its thread wakes the inbox
};

}  // namespace reel::worker
