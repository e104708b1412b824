// SPDX-License-Identifier: Apache-2.0
#include "server/render/render_video.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "kernels/base/mutex.h"
#include "kernels/base/program/part_file.h"
#include "model/resolve.h"
#include "server/errors/error.h"
#include "server/render/condition_files.h"
#include "server/render/interrupt.h"
#include "server/render/state_files.h"
#include "server/worker/engine/engine.h"

namespace reel::render {
namespace {

constexpr char kJob[] = "render";

// Leads one job through the engine: resolves its spec once the model is loaded, collects its bytes,
// and stops the engine at the end.
class OneJob : public worker::EngineEvents {
 public:
  OneJob(const RenderOptions& options, Console& console) : options_(options), console_(console) {}

  // Call before the engine runs.
  void Attach(worker::Engine& engine, PartFile& file) {
    engine_ = &engine;
    file_ = &file;
  }
  int exit_code() const { return exit_code_; }

  void Report(WorkerReport report) override {
    std::visit([this](auto& event) { On(event); }, report.event);
  }
  void DeviceLost(const absl::Status& error) override {
    console_.Error(std::string(error.message()));
    Leave(kFailed);
  }
  void Drained() override {}

 private:
  void On(const ModelLoaded& loaded) {
    loaded_ = absl::Now();
    const auto resolved =
        model::Resolve(options_.spec, loaded.card, RenderLimits(), /*fresh_seed=*/0);
    if (!resolved.ok()) {
      console_.Violations(resolved.violations);
      Leave(kInvalid);
      return;
    }
    Assignment assignment;
    assignment.ref.job = kJob;
    assignment.spec = resolved.spec;
    engine_->Post(std::move(assignment));
  }
  void On(const ModelFailed& failed) {
    console_.Error(std::string(failed.error.message()));
    Leave(kFailed);
  }
  void On(const JobProgress& progress) {
    num_steps_ = progress.num_steps;
    console_.Progress(progress.stage, progress.step, progress.num_steps);
  }
  void On(const JobMedia& media) {
    MutexLock lock(mutex_);
    if (!write_error_.ok()) return;
    write_error_ = file_->Append(media.bytes);
    if (!write_error_.ok()) engine_->Post(worker::CancelJob{kJob});
  }
  void On(const JobState& state) {
    MutexLock lock(mutex_);
    state_ += state.bytes;
  }
  void On(const JobFinished& finished) {
    absl::Status status = write_error();
    if (status.ok() && !options_.state.empty()) status = WriteStateFile(options_.state, state());
    if (status.ok()) status = file_->Commit();
    if (!status.ok()) {
      console_.Error(std::string(status.message()));
      Leave(kFailed);
      return;
    }
    console_.ClearLine();
    for (const model::Notice& notice : finished.notices) console_.Note(notice.message);
    if (options_.timings) {
      console_.Timings(finished.stats, num_steps_, loaded_ - start_, absl::Now() - start_);
    }
    Leave(kSuccess);
  }
  void On(const JobFailed& failed) {
    const absl::Status written = write_error();
    const absl::Status& why = written.ok() ? failed.error : written;
    console_.Error(std::string(why.message()));
    const Reason reason = ReasonOf(why).value_or(Reason::kInternal);
    const bool invalid = reason == Reason::kInvalidSpec || reason == Reason::kUnknownKernel ||
                         reason == Reason::kKernelUnavailable ||
                         reason == Reason::kStateNotForModel;
    const bool interrupted = absl::IsCancelled(why);
    Leave(interrupted ? kInterrupted : invalid ? kInvalid : kFailed);
  }
  template <typename Event>
  void On(const Event&) {}

  absl::Status write_error() {
    MutexLock lock(mutex_);
    return write_error_;
  }
  std::string state() {
    MutexLock lock(mutex_);
    return state_;
  }
  void Leave(int exit_code) {
    exit_code_ = exit_code;
    engine_->Stop();
  }

  const RenderOptions& options_;
  Console& console_;
  worker::Engine* engine_ = nullptr;
  PartFile* file_ = nullptr;
  const absl::Time start_ = absl::Now();
  absl::Time loaded_;
  int num_steps_ = 0;
  int exit_code_ = kInterrupted;  // until something else ends the run
  Mutex mutex_;
  absl::Status write_error_ ABSL_GUARDED_BY(mutex_);  // from the encoder's thread
  std::string state_ ABSL_GUARDED_BY(mutex_);         // from there too, before the end
};

}  // namespace

int RenderVideo(const RenderOptions& options, const kernels::KernelCatalog& catalog,
                Console& console) {
  std::optional<PartFile> file;  // outlives the engine, which writes to it
  OneJob job(options, console);
  worker::EngineOptions engine_options;
  engine_options.stream = {.device = catalog.capability().device, .handle = nullptr};
  engine_options.peers = options.peers;
  engine_options.device = options.device;
  engine_options.encoder_threads = options.encoder_threads;
  engine_options.kernel_sample_every = 0;
  engine_options.limits = RenderLimits();
  worker::Engine engine(engine_options, catalog, job);
  // Before there is a file that an interrupt would have to remove.
  const InterruptWatch watch([&] { engine.Stop(); });
  auto created = PartFile::Open(options.output, PartFile::Mode::kScratch);
  if (!created.ok()) {
    console.Error(std::string(created.status().message()));
    return kFailed;
  }
  file.emplace(*std::move(created));
  job.Attach(engine, *file);
  worker::LoadModel load;
  load.options = LoadOptionsOf(options);
  load.options.warm_up.off = true;  // no other video would profit from a warm-up
  load.options.name = options.model_path.empty() ? "testcard" : "model";
  engine.Post(std::move(load));
  engine.Run();
  console.ClearLine();
  return job.exit_code();
}

}  // namespace reel::render
