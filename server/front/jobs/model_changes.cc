// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/model_changes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/logging/log.h"

namespace reel::front {

ModelChanges::ModelChanges(WorkerRoster& roster, WorkerPool& pool, JobTable& jobs, Endings& endings,
                           const Clock& clock, std::vector<ModelSource> sources)
    : roster_(roster),
      pool_(pool),
      jobs_(jobs),
      endings_(endings),
      clock_(clock),
      sources_(std::move(sources)) {
  TellOnDemand();
}

void ModelChanges::TellOnDemand() {
  std::set<std::string> on_demand;
  for (const ModelSource& source : sources_) {
    if (source.load.on_demand) on_demand.insert(source.load.name);
  }
  roster_.SetOnDemand(std::move(on_demand));
}

void ModelChanges::LoadOn(const std::string& worker, const std::string& model) {
  const ModelSource* source = Find(model);
  if (source == nullptr) return;
  Log(LogLevel::kInfo, "loading a model on demand", {{"model", model}, {"worker", worker}});
  roster_.Expect(worker, model, ++revision_, clock_.Monotonic());
  pool_.LoadModel(worker, source->load, revision_);
}

void ModelChanges::PutOut(const std::string& worker, const std::string& model) {
  Log(LogLevel::kInfo, "a model makes way for another one", {{"model", model}, {"worker", worker}});
  roster_.Unload(worker, model, /*for_good=*/false);
  pool_.PutOutModel(worker, model);
}

const ModelSource* ModelChanges::Find(const std::string& model) const {
  const auto found = std::find_if(sources_.begin(), sources_.end(),
                                  [&](const auto& source) { return source.load.name == model; });
  return found == sources_.end() ? nullptr : &*found;
}

std::vector<std::string> ModelChanges::WorkersOf(const ModelSource& source) const {
  if (!source.workers.empty()) return source.workers;
  std::vector<std::string> all;
  for (const auto& [name, worker] : roster_.workers()) all.push_back(name);
  return all;
}

void ModelChanges::SetSources(std::vector<ModelSource> sources) {
  const std::vector<ModelSource> before = std::exchange(sources_, std::move(sources));
  std::vector<std::string> names;
  for (const ModelSource& source : sources_) names.push_back(source.load.name);
  roster_.SetServed(names);
  TellOnDemand();
  for (const ModelSource& old : before) {
    const ModelSource* now = Find(old.load.name);
    if (now == nullptr) {
      TakeAway(old.load.name);
      continue;
    }
    const std::vector<std::string> stay = WorkersOf(*now);
    for (const std::string& worker : WorkersOf(old)) {
      if (std::count(stay.begin(), stay.end(), worker) > 0) continue;
      roster_.Unload(worker, old.load.name);
      pool_.UnloadModel(worker, old.load.name);
    }
  }
  for (const ModelSource& source : sources_) {
    if (std::find(before.begin(), before.end(), source) == before.end()) Send(source);
  }
}

absl::StatusOr<ServedModel> ModelChanges::Load(const std::string& model) {
  const ModelSource* source = Find(model);
  if (source == nullptr) return roster_.CheckServed(model);
  Send(*source);
  return Shown(model);
}

absl::StatusOr<ServedModel> ModelChanges::Unload(const std::string& model) {
  if (Find(model) == nullptr) return roster_.CheckServed(model);
  TakeAway(model);
  return Shown(model);
}

void ModelChanges::Send(const ModelSource& source) {
  const std::string& name = source.load.name;
  Log(LogLevel::kInfo, "loading a model", {{"model", name}, {"path", source.load.path}});
  ++revision_;
  for (const std::string& worker : WorkersOf(source)) {
    roster_.Expect(worker, name, revision_, clock_.Monotonic());
    pool_.LoadModel(worker, source.load, revision_);
  }
  // Last, so that nobody sees it ready and without a problem in between.
  roster_.SetUnloaded(name, false);
}

void ModelChanges::TakeAway(const std::string& model) {
  Log(LogLevel::kInfo, "unloading a model", {{"model", model}});
  roster_.SetUnloaded(model, true);
  for (const auto& [name, worker] : roster_.workers()) {
    roster_.Unload(name, model);
    pool_.UnloadModel(name, model);
  }
}

void ModelChanges::EndStranded() {
  if (!roster_.models_gone()) return;
  for (auto& [id, job] : jobs_) {
    if (job.phase() != Phase::kQueued || roster_.CheckServed(job.need.model).ok()) continue;
    endings_.Fail(
        job, JobEvent::kEnded,
        Endings::ErrorOf(job, Reason::kModelUnloaded,
                         absl::StrCat("The model was taken out of service while the video waited: ",
                                      job.need.model)));
  }
}

ServedModel ModelChanges::Shown(const std::string& model) const {
  for (ServedModel& served : roster_.Models()) {
    if (served.card.name == model) return std::move(served);
  }
  return {};
}

}  // namespace reel::front
