// SPDX-License-Identifier: Apache-2.0
#include "server/render/render_exact.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_counters.h"
#include "model/held_stretch.h"
#include "model/pass_work.h"
#include "model/registry.h"
#include "model/resolve.h"
#include "model/states/video_state.h"
#include "server/render/condition_files.h"
#include "server/render/exact_file.h"
#include "server/render/interrupt.h"
#include "server/render/state_files.h"
#include "server/worker/media/condition_decoder.h"

namespace reel::render {
namespace {

// Runs one spec, and checks for an interrupt between any two pieces.
class ExactRun {
 public:
  ExactRun(model::Pipeline& pipeline, const model::GenerationSpec& spec,
           kernels::DeviceStream stream, Console& console, const std::atomic<bool>& interrupted)
      : pipeline_(pipeline),
        spec_(spec),
        stream_(stream),
        console_(console),
        interrupted_(interrupted) {}

  // `state_file`: for the video's state; empty: none is kept.
  absl::Status Render(const kernels::KernelPlan& plan, const std::string& state_file,
                      PartFile& file) {
    const kernels::Execution run{plan, counters_, nullptr, stream_};
    REEL_ASSIGN_OR_RETURN(const auto generation, Create(run));
    REEL_RETURN_IF_ERROR(Denoise(*generation, run));
    if (!state_file.empty()) {
      REEL_ASSIGN_OR_RETURN(const model::PassState made, pipeline_.State(*generation));
      REEL_RETURN_IF_ERROR(
          WriteStateFile(state_file, model::WriteState(spec_, pipeline_.card(), made)));
    }
    const absl::Time start = absl::Now();
    REEL_RETURN_IF_ERROR(Write(*generation, run, file));
    stats_.decode = absl::Now() - start;
    return file.Commit();
  }
  // Steps of all its passes.
  int num_steps() const { return num_steps_; }
  model::RunStats stats() const {
    model::RunStats stats = stats_;
    stats.kernels = counters_.Uses();
    return stats;
  }

 private:
  absl::StatusOr<std::unique_ptr<model::Generation>> Create(const kernels::Execution& run) {
    REEL_ASSIGN_OR_RETURN(const auto made, PassesToBeginFrom(spec_, pipeline_.card()));
    return made ? pipeline_.CreateFrom(spec_, *made, run) : pipeline_.Create(spec_, run);
  }
  absl::Status Proceed(model::Stage stage, int step) {
    if (interrupted_) return absl::CancelledError("Interrupted");
    console_.Progress(stage, step, num_steps_);
    return absl::OkStatus();
  }

  absl::Status Denoise(model::Generation& generation, const kernels::Execution& run) {
    absl::Time start = absl::Now();
    for (bool ready = false; !ready;) {
      REEL_RETURN_IF_ERROR(Proceed(model::Stage::kTextEncode, 0));
      REEL_ASSIGN_OR_RETURN(ready, pipeline_.BeginNext(generation, run));
    }
    stats_.text_encode = absl::Now() - start;
    for (const model::Notice& notice : generation.text_facts().notices) {
      console_.Note(notice.message);
    }
    const std::string retaken = model::RetakeNotice(spec_, pipeline_.card().temporal_multiple);
    if (!retaken.empty()) console_.Note(retaken);
    num_steps_ = generation.num_steps();
    start = absl::Now();
    while (generation.step() < generation.num_steps()) {
      REEL_RETURN_IF_ERROR(Proceed(model::Stage::kDenoise, generation.step()));
      model::Generation* const batch[] = {&generation};
      const std::vector<absl::Status> statuses = pipeline_.Step(batch, run);
      if (statuses.size() != 1)
        return absl::InternalError("The model returned no status for a step");
      REEL_RETURN_IF_ERROR(statuses[0]);
    }
    stats_.denoise = absl::Now() - start;
    stats_.reused_steps = generation.reused_steps();
    stats_.full_steps = generation.step() - stats_.reused_steps;
    return absl::OkStatus();
  }

  absl::Status Write(model::Generation& generation, const kernels::Execution& run, PartFile& file) {
    const model::FileSize size = model::FileSizeOf(spec_, pipeline_.card());
    ExactFile exact(file, {"frames", {spec_.num_frames, size.height, size.width, 3}},
                    spec_.sound.value_or(false));
    REEL_RETURN_IF_ERROR(AddLatents(generation, exact));
    for (bool last = false; !last;) {
      REEL_RETURN_IF_ERROR(Proceed(model::Stage::kDecode, num_steps_));
      REEL_ASSIGN_OR_RETURN(last, pipeline_.DecodeNext(generation, exact, run));
    }
    return exact.Finish();
  }

  // Those that the model has.
  absl::Status AddLatents(const model::Generation& generation, ExactFile& exact) {
    const auto latents = pipeline_.Latents(generation);
    if (latents.ok()) {
      exact.Add(
          {"latents", {1, latents->channels, latents->frames, latents->height, latents->width}},
          latents->data);
    } else if (!absl::IsFailedPrecondition(latents.status())) {
      return latents.status();
    }
    const auto sound = pipeline_.SoundLatents(generation);
    if (sound.ok()) {
      exact.Add({"audio_latents", {1, sound->channels, sound->latents, sound->bins}}, sound->data);
    } else if (!absl::IsFailedPrecondition(sound.status())) {
      return sound.status();
    }
    return absl::OkStatus();
  }

  model::Pipeline& pipeline_;
  const model::GenerationSpec& spec_;
  const kernels::DeviceStream stream_;
  Console& console_;
  const std::atomic<bool>& interrupted_;
  kernels::KernelCounters counters_;
  model::RunStats stats_;
  int num_steps_ = spec_.num_steps();  // until the generation knows better
};

int ExitCodeOf(const absl::Status& status) {
  if (absl::IsCancelled(status)) return kInterrupted;
  return absl::IsInvalidArgument(status) ? kInvalid : kFailed;
}

int Report(Console& console, const absl::Status& status, int exit_code) {
  console.Error(std::string(status.message()));
  return exit_code;
}

}  // namespace

int RenderExact(const RenderOptions& options, const kernels::KernelCatalog& catalog,
                Console& console) {
  std::atomic<bool> interrupted = false;
  const InterruptWatch watch([&] { interrupted = true; });
  const absl::Time start = absl::Now();
  const kernels::DeviceStream stream = {.device = catalog.capability().device, .handle = nullptr};
  const auto pipeline = model::LoadPipeline(LoadOptionsOf(options), stream);
  if (!pipeline.ok()) return Report(console, pipeline.status(), kFailed);
  const absl::Duration loading = absl::Now() - start;
  auto resolved =
      model::Resolve(options.spec, (*pipeline)->card(), RenderLimits(), /*fresh_seed=*/0);
  if (!resolved.ok()) {
    console.Violations(resolved.violations);
    return kInvalid;
  }
  const auto plan = catalog.Plan(resolved.spec.kernels.profile, resolved.spec.kernels.variants);
  if (!plan.ok()) return Report(console, plan.status(), kInvalid);
  const auto decode = worker::DecodeLimits::For(resolved.spec, (*pipeline)->card(),
                                                RenderLimits().max_condition_pixels);
  const absl::Status decoded = worker::DecodeConditions(resolved.spec, decode, interrupted);
  if (!decoded.ok()) return Report(console, decoded, ExitCodeOf(decoded));
  auto file = PartFile::Open(options.output, PartFile::Mode::kScratch);
  if (!file.ok()) return Report(console, file.status(), kFailed);
  ExactRun run(**pipeline, resolved.spec, stream, console, interrupted);
  if (const absl::Status status = run.Render(*plan, options.state, *file); !status.ok()) {
    return Report(console, status, ExitCodeOf(status));
  }
  console.ClearLine();
  if (options.timings) {
    console.Timings(run.stats(), run.num_steps(), loading, absl::Now() - start);
  }
  return kSuccess;
}

}  // namespace reel::render
