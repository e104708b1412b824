// SPDX-License-Identifier: Apache-2.0
// How models come and go.
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/worker/engine/engine_core.h"

namespace reel::worker {

void Engine::Impl::CarryOut(LoadModel& command) {
  const std::string name = command.options.name;
  if (command.revision != 0) {
    // A later one takes the place of one that is on its way.
    loading_[name] = command.revision;
    loader_.Start(std::move(command));
    return;
  }
  ReadMemory({});
  const int64_t before = memory_.in_use;
  auto pipeline = model::LoadPipeline(command.options, options_.stream);
  if (!pipeline.ok()) {
    Report(ModelFailed{name, pipeline.status()});
    return;
  }
  ReadMemory({});
  Adopt(name, {.pipeline = *std::move(pipeline), .bytes = memory_.in_use - before}, 0);
}

void Engine::Impl::CarryOut(UnloadModel& command) {
  loading_.erase(command.model);
  const auto found = models_.find(command.model);
  if (found == models_.end()) return;
  leaving_.push_back(std::move(found->second));
  models_.erase(found);
}

void Engine::Impl::Adopt(const std::string& name, LoadedModel model, int64_t revision) {
  const model::ModelCard card = model.pipeline->card();
  LoadedModel& place = models_[name];
  // Jobs that were given to it end by it.
  if (place.pipeline != nullptr) leaving_.push_back(std::move(place));
  place = std::move(model);
  place.replaced = revision != 0;
  Report(ModelLoaded{name, card, revision});
  if (options_.read_memory) Report(Stepped{{}, memory_.held, {}});
}

// What was loaded becomes a candidate, or is told to have failed.
void Engine::Impl::TakeLoaded() {
  for (LoadResult& result : loader_.Take()) {
    if (!IsAwaited(result.model, result.revision)) continue;
    if (!result.pipeline.ok()) {
      RefuseCandidate(result.model, result.revision, result.pipeline.status());
      continue;
    }
    Candidate candidate{result.model, result.revision, *std::move(result.pipeline), {}};
    auto canary = Canary::Make(*candidate.pipeline, catalog_, options_.stream, options_.limits);
    if (!canary.ok()) {
      RefuseCandidate(result.model, result.revision, canary.status());
      continue;
    }
    candidate.canary.emplace(*std::move(canary));
    candidates_.push_back(std::move(candidate));
  }
}

bool Engine::Impl::TryCandidate() {
  TakeLoaded();
  if (candidates_.empty()) return false;
  Candidate& next = candidates_.front();
  const std::string name = next.model;
  const int64_t revision = next.revision;
  if (!IsAwaited(name, revision)) {
    candidates_.pop_front();
    return true;
  }
  absl::StatusOr<bool> last = false;
  {
    PieceClock::Piece piece(clock_);
    last = next.canary->Next();
  }
  ReadMemory({});
  if (last.ok() && !*last) return true;
  Candidate done = std::move(next);
  candidates_.pop_front();
  done.canary.reset();
  if (!last.ok()) {
    RefuseCandidate(name, revision, last.status());
    return true;
  }
  loading_.erase(name);
  const int64_t bytes = options_.read_memory ? done.pipeline->card().weight_bytes : 0;
  Adopt(name, {.pipeline = std::move(done.pipeline), .bytes = bytes}, revision);
  return true;
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
  std::erase_if(leaving_, [this](const auto& model) { return !jobs_.Uses(model.pipeline.get()); });
}

}  // namespace reel::worker
