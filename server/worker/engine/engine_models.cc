// SPDX-License-Identifier: Apache-2.0
// Loads, tries, replaces and unloads models.
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/warm_up_sizes.h"
#include "server/logging/log.h"
#include "server/worker/engine/engine_core.h"

namespace reel::worker {

void Engine::Impl::CarryOut(LoadModel& command) {
  const std::string name = command.options.name;
  command.options.peers = options_.peers;
  if (options_.device_memory > 0) command.options.device_memory = options_.device_memory;
  command.options.computes_in_bf16 = catalog_.capability().ComputesInBf16();
  if (command.revision != 0) {
    // A later revision supersedes one that is still loading.
    loading_[name] = command.revision;
    loader_.Start(std::move(command));
    return;
  }
  if (command.options.on_demand) return LookAt(command.options);
  ReadMemory();
  const int64_t before = memory_.last().in_use;
  auto loaded = Loaded(model::LoadPipeline(command.options, options_.stream, options_.counted));
  if (!loaded.ok()) {
    Report(ModelFailed{name, loaded.status()});
    return;
  }
  ReadMemory();
  loaded->bytes = memory_.last().in_use - before;
  Candidate candidate{name, 0, *std::move(loaded), {}};
  AddWarmUps(command.options.warm_up, candidate);
  Add(std::move(candidate));
}

void Engine::Impl::LookAt(const model::LoadOptions& options) {
  model::ModelCheck check = model::CheckModel(options, options_.stream);
  if (check.status.ok()) {
    Report(ModelKnown{options.name, std::move(check.card)});
  } else {
    Report(ModelFailed{options.name, check.status});
  }
}

absl::StatusOr<Engine::Impl::LoadedModel> Engine::Impl::Loaded(
    absl::StatusOr<std::unique_ptr<model::Pipeline>> pipeline) {
  if (!pipeline.ok()) return pipeline.status();
  LoadedModel loaded;
  loaded.pipeline = *std::move(pipeline);
  loaded.weights = model::CountedBytes(options_.counted);
  REEL_RETURN_IF_ERROR(loaded.weights.Resize(loaded.pipeline->card().weight_bytes));
  return loaded;
}

void Engine::Impl::CarryOut(UnloadModel& command) {
  loading_.erase(command.model);
  const auto found = models_.find(command.model);
  if (found == models_.end()) return;
  leaving_.push_back(std::move(found->second));
  models_.erase(found);
  // The next command may load another model under this name.
  DropUnusedModels();
}

void Engine::Impl::Add(Candidate candidate) {
  if (candidate.trials.empty()) {
    Adopt(std::move(candidate));
    return;
  }
  loading_[candidate.model] = candidate.revision;
  candidates_.push_back(std::move(candidate));
}

void Engine::Impl::Adopt(Candidate candidate) {
  const model::ModelCard card = candidate.loaded.pipeline->card();
  LoadedModel& place = models_[candidate.model];
  // Jobs that began on the old model finish on it.
  if (place.pipeline != nullptr) leaving_.push_back(std::move(place));
  place = std::move(candidate.loaded);
  gains_.Forget(candidate.model);
  place.replaced = candidate.revision != 0;
  Report(ModelLoaded{candidate.model, card, candidate.revision, std::move(candidate.warm_ups)});
  TellMemory();
}

void Engine::Impl::AddWarmUps(const model::WarmUp& warm_up, Candidate& candidate) const {
  if (warm_up.off) return;
  std::vector<model::WarmUpSize> sizes = warm_up.sizes;
  // A CPU has little to warm up, and a large video would take minutes.
  if (sizes.empty() && options_.stream.device >= 0) {
    sizes = model::UsualWarmUpSizes(candidate.loaded.pipeline->card());
  }
  for (const model::WarmUpSize& size : sizes) {
    auto video = TrialVideo::WarmUp(StageOf(candidate), size);
    if (video.ok()) {
      candidate.trials.push_back({*std::move(video)});
    } else {
      candidate.warm_ups.push_back({size, absl::ZeroDuration(), video.status()});
    }
  }
}

// Turns a loaded model into a candidate, or reports that loading failed.
void Engine::Impl::TakeLoaded() {
  for (LoadResult& result : loader_.Take()) {
    const std::string name = result.options.name;
    if (!IsAwaited(name, result.revision)) continue;
    auto loaded = Loaded(std::move(result.pipeline));
    if (!loaded.ok()) {
      RefuseCandidate(name, result.revision, loaded.status());
      continue;
    }
    Candidate candidate{name, result.revision, *std::move(loaded), {}};
    const model::ModelCard& card = candidate.loaded.pipeline->card();
    if (memory_.reads()) candidate.loaded.bytes = card.weight_bytes;
    auto canary = TrialVideo::Canary(StageOf(candidate));
    if (!canary.ok()) {
      RefuseCandidate(name, result.revision, canary.status());
      continue;
    }
    candidate.trials.push_back({*std::move(canary), true});
    AddWarmUps(result.options.warm_up, candidate);
    Add(std::move(candidate));
  }
}

bool Engine::Impl::TryCandidate() {
  TakeLoaded();
  if (candidates_.empty()) return false;
  Candidate& next = candidates_.front();
  if (!IsAwaited(next.model, next.revision)) {
    candidates_.pop_front();
    return true;
  }
  Trial& trial = next.trials.front();
  const absl::Time began = SteadyNow();
  if (!trial.is_canary && !std::exchange(trial.told, true)) LogWarmUp(next, trial);
  absl::StatusOr<bool> last = false;
  {
    PieceClock::Piece piece(clock_);
    last = trial.video.Next();
  }
  trial.took += SteadyNow() - began;
  ReadMemory();
  if (last.ok() && !*last) return true;
  if (!last.ok()) last = Diagnosed(last.status());
  if (!last.ok() && (trial.is_canary || absl::IsAborted(last.status()))) {
    const Candidate refused = std::move(next);
    candidates_.pop_front();
    RefuseCandidate(refused.model, refused.revision, last.status());
    return true;
  }
  if (!trial.is_canary) {
    const model::GenerationSpec& spec = trial.video.spec();
    next.warm_ups.push_back(
        {{spec.width, spec.height, spec.num_frames}, trial.took, last.status()});
  }
  next.trials.pop_front();
  if (!next.trials.empty()) return true;
  Candidate done = std::move(next);
  candidates_.pop_front();
  loading_.erase(done.model);
  Adopt(std::move(done));
  return true;
}

// A large one may take a while.
void Engine::Impl::LogWarmUp(const Candidate& candidate, const Trial& trial) {
  const model::GenerationSpec& spec = trial.video.spec();
  Log(LogLevel::kInfo, "A model warms up",
      {{"model", candidate.model},
       {"shape", absl::StrCat(spec.width, "x", spec.height, "x", spec.num_frames)},
       {"left", static_cast<int64_t>(candidate.trials.size())}});
}

void Engine::Impl::RefuseCandidate(const std::string& model, int64_t revision,
                                   const absl::Status& why) {
  loading_.erase(model);
  std::string message(why.message());
  if (absl::IsDataLoss(why)) {
    message = absl::StrCat("Its first video has numbers that are not finite: ", message);
  }
  Report(ModelFailed{model, absl::Status(why.code(), message), revision});
  if (!absl::IsAborted(why)) return;
  device_lost_ = true;
  events_.DeviceLost(why);
}

bool Engine::Impl::IsAwaited(const std::string& model, int64_t revision) const {
  const auto found = loading_.find(model);
  return found != loading_.end() && found->second == revision;
}

void Engine::Impl::DropUnusedModels() {
  const auto gone = std::erase_if(
      leaving_, [this](const auto& model) { return !jobs_.Uses(model.pipeline.get()); });
  if (gone == 0) return;
  if (options_.return_memory) options_.return_memory();
  ReadMemory();
  TellMemory();
}

}  // namespace reel::worker
