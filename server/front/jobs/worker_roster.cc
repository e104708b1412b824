// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/worker_roster.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/dispatch/kernel_catalog.h"
#include "model/adapter_rules.h"
#include "server/errors/error.h"

namespace reel::front {
WorkerRoster::WorkerRoster(const JobOptions& options)
    : WorkerTable(options), adapters_(options.adapters) {
  for (const ModelSource& model : options.models) served_.push_back(model.load.name);
  Publish();
}

void WorkerRoster::Update(const WorkerInfo& info) {
  PlannedWorker& worker = workers_[info.name];
  worker.info = info;
  // A list that is empty while it starts says nothing of what ModelLoaded has told.
  if (info.state == WorkerState::kStarting || info.state == WorkerState::kLost) {
    worker.loaded.clear();
    worker.is_dying = false;
  }
  // It begins again with all that it was sent.
  if (info.state == WorkerState::kLost) {
    worker.loading.clear();
    worker.known.clear();
  }
  for (const std::string& model : info.models) {
    // Of one on demand a list may be late: its own reports tell.
    if (CheckServed(model).ok() && !worker.known.contains(model)) worker.loaded.insert(model);
  }
  Publish();
}

void WorkerRoster::MarkDying(const std::string& name) {
  PlannedWorker* worker = Find(name);
  if (worker == nullptr) return;
  worker->is_dying = true;
  for (auto& [job, held] : worker->held) held.innocent = true;
}

std::map<std::string, HeldJob> WorkerRoster::Lose(const std::string& name) {
  PlannedWorker* worker = Find(name);
  if (worker == nullptr) return {};
  if (worker->info.state != WorkerState::kOut) worker->info.state = WorkerState::kLost;
  worker->loaded.clear();
  worker->known.clear();
  worker->step_limit = absl::ZeroDuration();
  worker->is_dying = false;
  auto held = std::exchange(worker->held, {});
  Publish();
  return held;
}

void WorkerRoster::SetCard(const model::ModelCard& card) {
  adapters_.PutInto(cards_[card.name] = card);
  Publish();
}

void WorkerRoster::SetLoaded(const std::string& worker, const model::ModelCard& card,
                             int64_t revision) {
  if (PlannedWorker* found = Find(worker)) {
    found->loaded.insert(card.name);
    found->known.erase(card.name);
    if (on_demand_.contains(card.name)) found->known.insert(card.name);
    found->loading.erase(card.name);
    // What it begins with again says nothing of a load that failed since.
    const auto failed = found->failed.find(card.name);
    if (failed != found->failed.end() && failed->second.revision <= revision) {
      found->failed.erase(failed);
    }
    found->calls[card.name] = card.calls;
    found->SetSteps(card);
  }
  Publish();
}

void WorkerRoster::SetKnown(const std::string& worker, const model::ModelCard& card) {
  if (PlannedWorker* found = Find(worker)) {
    found->known.insert(card.name);
    found->failed.erase(card.name);
    found->calls[card.name] = card.calls;
    found->SetSteps(card);
  }
  Publish();
}

void WorkerRoster::SetFailed(const std::string& worker, const ModelFailed& failed) {
  if (PlannedWorker* found = Find(worker)) {
    found->loading.erase(failed.model);
    found->failed[failed.model] = failed;
  }
  Publish();
}

void WorkerRoster::SetServed(std::vector<std::string> models) {
  served_ = std::move(models);
  models_gone_ = true;
  Publish();
}

absl::Status WorkerRoster::CheckServed(const std::string& model) const {
  const bool known = std::find(served_.begin(), served_.end(), model) != served_.end();
  if (known && !unloaded_.contains(model)) return absl::OkStatus();
  ErrorDetails details;
  details.metadata = {{"model", model}};
  if (!known) {
    const std::string names = absl::StrJoin(served_, ", ");
    details.metadata["models"] = names;
    details.resource_type = "model";
    details.resource_name = model;
    return MakeError(Reason::kModelNotFound,
                     absl::StrCat("The model is not served; served models: ", names), details);
  }
  details.precondition_type = "MODEL";
  details.precondition_subject = model;
  details.precondition_description = "it was unloaded";
  return MakeError(Reason::kModelUnloaded, absl::StrCat("The model is out of service: ", model),
                   details);
}

void WorkerRoster::SetUnloaded(const std::string& model, bool unloaded) {
  if (unloaded) {
    unloaded_.insert(model);
    models_gone_ = true;
  } else {
    unloaded_.erase(model);
  }
  for (auto& [name, worker] : workers_) worker.failed.erase(model);
  Publish();
}

void WorkerRoster::Expect(const std::string& name, const std::string& model, int64_t revision,
                          absl::Duration now) {
  PlannedWorker* worker = Find(name);
  if (worker == nullptr) return;
  worker->asked[model] = revision;
  worker->loading_since[model] = now;
  if (worker->info.state != WorkerState::kLost) worker->loading.insert(model);
  Publish();
}

bool WorkerRoster::IsAwaited(const std::string& name, const std::string& model,
                             int64_t revision) const {
  if (!CheckServed(model).ok()) return false;
  if (revision == 0) return true;
  const auto worker = workers_.find(name);
  if (worker == workers_.end()) return false;
  const auto asked = worker->second.asked.find(model);
  return asked != worker->second.asked.end() && asked->second == revision;
}

void WorkerRoster::Unload(const std::string& name, const std::string& model, bool for_good) {
  PlannedWorker* worker = Find(name);
  if (worker == nullptr) return;
  worker->loaded.erase(model);
  if (for_good) worker->known.erase(model);
  worker->loading.erase(model);
  worker->asked.erase(model);
  Publish();
}

void WorkerRoster::Hold(const std::string& worker, const std::string& job, HeldJob held) {
  PlannedWorker* found = Find(worker);
  if (found == nullptr) return;
  found->used[held.shape.model] = ++uses_;
  found->held[job] = std::move(held);
  PublishRunning(*found);
}

std::optional<HeldJob> WorkerRoster::Release(const std::string& job, int attempt) {
  for (auto& [name, worker] : workers_) {
    const auto found = worker.held.find(job);
    if (found == worker.held.end() || found->second.attempt != attempt) continue;
    HeldJob released = std::move(found->second);
    worker.held.erase(found);
    worker.used[released.shape.model] = ++uses_;
    PublishRunning(worker);
    return released;
  }
  return std::nullopt;
}

absl::Status WorkerRoster::LoadError(const std::string& model) const {
  for (const auto& [name, worker] : workers_) {
    const auto failed = worker.failed.find(model);
    if (failed != worker.failed.end()) return failed->second.error;
  }
  return absl::OkStatus();
}

ServedModel WorkerRoster::Show(const std::string& name) const {
  ServedModel served;
  const model::ModelCard* card = FindCard(name);
  served.has_card = card != nullptr;
  if (card != nullptr) served.card = *card;
  served.card.name = name;
  served.is_default = name == served_.front();
  bool loading = false, known = false;
  for (const auto& [worker_name, worker] : workers_) {
    served.ready |= worker.info.state == WorkerState::kReady && worker.loaded.contains(name);
    loading |= worker.loading.contains(name);
    known |= worker.known.contains(name);
  }
  const absl::Status error = LoadError(name);
  served.problem = std::string(error.message());
  served.state = unloaded_.contains(name) ? ModelState::kUnloaded
                 : served.ready           ? (loading ? ModelState::kReplacing : ModelState::kReady)
                 : loading                ? ModelState::kLoading
                 : !error.ok()            ? ModelState::kFailed
                 : known                  ? ModelState::kOnDemand
                                          : ModelState::kLoading;
  return served;
}

void WorkerRoster::Publish() {
  changed_ = true;
  std::vector<ServedModel> models;
  for (const std::string& name : served_) models.push_back(Show(name));
  std::vector<WorkerInfo> workers;
  std::map<std::string, int> running;
  for (const auto& [name, worker] : workers_) {
    WorkerInfo& info = workers.emplace_back(worker.info);
    info.models.assign(worker.loaded.begin(), worker.loaded.end());
    running[name] = static_cast<int>(worker.held.size());
  }
  MutexLock lock(mutex_);
  public_models_ = std::move(models);
  public_workers_ = std::move(workers);
  public_running_ = std::move(running);
}

void WorkerRoster::PublishRunning(const PlannedWorker& worker) {
  changed_ = true;
  MutexLock lock(mutex_);
  public_running_[worker.info.name] = static_cast<int>(worker.held.size());
}

std::vector<ServedModel> WorkerRoster::Models() const {
  MutexLock lock(mutex_);
  return public_models_;
}

std::vector<WorkerInfo> WorkerRoster::Workers() const {
  MutexLock lock(mutex_);
  return public_workers_;
}

int WorkerRoster::Running(const std::string& worker) const {
  MutexLock lock(mutex_);
  const auto found = public_running_.find(worker);
  return found == public_running_.end() ? 0 : found->second;
}

bool WorkerRoster::AnyReady() const {
  MutexLock lock(mutex_);
  return std::any_of(public_workers_.begin(), public_workers_.end(),
                     [](const WorkerInfo& worker) { return worker.state == WorkerState::kReady; });
}

void AdapterOffers::PutInto(model::ModelCard& card) const {
  card.adapters.clear();
  card.adapters_of_others.clear();
  for (const RegisteredAdapter& adapter : registered_) {
    const auto& models = adapter.models;
    const bool is_for_it =
        models.empty() || std::find(models.begin(), models.end(), card.name) != models.end();
    const bool is_offered =
        is_for_it && card.adapter_ranks > 0 && model::HasPartsOf(adapter.offer, card);
    (is_offered ? card.adapters : card.adapters_of_others).push_back(adapter.offer);
  }
}

absl::Status FindAdapters(const model::ModelCard* card, model::GenerationSpec& spec) {
  const std::vector<model::AdapterOffer> none;
  for (model::RequestAdapter& wanted : spec.adapters) {
    for (const model::AdapterOffer& offer : card == nullptr ? none : card->adapters) {
      if (offer.name != wanted.name || offer.sha256 != wanted.sha256) continue;
      wanted.path = offer.path;
      wanted.reference = offer.reference;
    }
    if (!wanted.path.empty()) continue;
    return MakeError(Reason::kAdapterChanged,
                     absl::StrCat("An adapter was replaced or taken away while the video waited: ",
                                  wanted.name));
  }
  return absl::OkStatus();
}

std::vector<absl::StatusOr<kernels::KernelPlan>> KernelsElsewhere::Plans(
    const Need& need, const model::ModelCard* card) const {
  std::vector<absl::StatusOr<kernels::KernelPlan>> plans;
  const auto lists = lists_.find(need.model);
  if (lists == lists_.end() || !need.worker.empty()) return plans;
  const auto calls = card == nullptr ? std::vector<kernels::KernelCall>() : card->calls;
  for (const auto& list : lists->second) {
    plans.push_back(kernels::MakePlan(list, need.profile, need.variants, calls));
  }
  return plans;
}

}  // namespace reel::front
