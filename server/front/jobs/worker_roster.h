// SPDX-License-Identifier: Apache-2.0
// Events of the workers and their models, and what requests may name of them: adapters, and kernels
// that other servers have. A snapshot is there for other threads.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/base/mutex.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/model_card.h"
#include "server/front/jobs/job_service.h"
#include "server/front/scheduling/job_options.h"
#include "server/front/scheduling/planned_worker.h"
#include "server/front/scheduling/worker_table.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// The adapters that requests may name, in the cards of the models that they are for. A value.
class AdapterOffers {
 public:
  explicit AdapterOffers(std::vector<RegisteredAdapter> registered)
      : registered_(std::move(registered)) {}

  // Replaces the card's adapters: those for the model, if it has room for any, and those for
  // others.
  void PutInto(model::ModelCard& card) const;

 private:
  std::vector<RegisteredAdapter> registered_;
};

// Where this server has the adapters of a resolved spec. `card` is that of its model; null: it is
// not known. ADAPTER_CHANGED: one is gone, or another file now.
absl::Status FindAdapters(const model::ModelCard* card, model::GenerationSpec& spec);

// Kernels of devices that other servers of a fleet have: what a request that names some is judged
// by where no device of this server can run it.
// Confined to the dispatcher's thread.
class KernelsElsewhere {
 public:
  // By model, the list of each kind of device.
  using Lists = std::map<std::string, std::vector<std::vector<kernels::OpListing>>>;
  void Set(Lists lists) { lists_ = std::move(lists); }

  // Of each kind the plan that the job would run by, or why it could not; none of a job that names
  // its worker. `card`: the model's; null: not known.
  std::vector<absl::StatusOr<kernels::KernelPlan>> Plans(const Need& need,
                                                         const model::ModelCard* card) const;

 private:
  Lists lists_;
};

// Confined to the dispatcher's thread, but for what is said to be thread-safe.
class WorkerRoster : public WorkerTable {
 public:
  explicit WorkerRoster(const JobOptions& options);

  void Update(const WorkerInfo& info);
  // It has lost its device and is about to end: it has no room until it is started again, and what
  // it holds now is innocent.
  void MarkDying(const std::string& worker);
  // What it held, which is lost with it.
  std::map<std::string, HeldJob> Lose(const std::string& worker);
  void SetCard(const model::ModelCard& card);
  void SetLoaded(const std::string& worker, const model::ModelCard& card, int64_t revision = 0);
  // It can be loaded there on demand.
  void SetKnown(const std::string& worker, const model::ModelCard& card);
  void SetFailed(const std::string& worker, const ModelFailed& failed);

  // What requests may name from now on: of each model with room those that are for it.
  void SetAdapters(std::vector<RegisteredAdapter> adapters) {
    adapters_ = AdapterOffers(std::move(adapters));
    for (auto& [name, card] : cards_) adapters_.PutInto(card);
    Publish();
  }

  // What other servers of a fleet have.
  KernelsElsewhere& elsewhere() { return elsewhere_; }
  const KernelsElsewhere& elsewhere() const { return elsewhere_; }

  // Names of models, default first.
  void SetServed(std::vector<std::string> models);
  // Of those, the ones that are loaded on demand.
  void SetOnDemand(std::set<std::string> models) { on_demand_ = std::move(models); }
  const std::vector<std::string>& served() const { return served_; }
  // MODEL_NOT_FOUND for a name that is none of them, MODEL_UNLOADED for one that was taken away.
  absl::Status CheckServed(const std::string& model) const;
  // False: every model that was ever served still is.
  bool models_gone() const { return models_gone_; }
  void SetUnloaded(const std::string& model, bool unloaded);
  // A load was sent to a worker.
  void Expect(const std::string& worker, const std::string& model, int64_t revision,
              absl::Duration now);
  // Whether what a worker says of a model is still asked for.
  bool IsAwaited(const std::string& worker, const std::string& model, int64_t revision) const;
  // The worker gets no further job of it; not for good: before it is loaded again.
  void Unload(const std::string& worker, const std::string& model, bool for_good = true);

  void Hold(const std::string& worker, const std::string& job, HeldJob held);
  std::optional<HeldJob> Release(const std::string& job, int attempt);
  // Why it could not be loaded, the last time; OK: nothing known.
  absl::Status LoadError(const std::string& model) const;

  // Whether anything that decides who can run where has changed since it was asked last.
  bool TakeChanged() { return std::exchange(changed_, false); }

  // Thread-safe snapshots.
  std::vector<ServedModel> Models() const;
  std::vector<WorkerInfo> Workers() const;
  int Running(const std::string& worker) const;
  bool AnyReady() const;

 private:
  ServedModel Show(const std::string& model) const;
  void Publish();
  void PublishRunning(const PlannedWorker& worker);

  std::vector<std::string> served_;
  std::set<std::string> unloaded_;
  std::set<std::string> on_demand_;
  bool models_gone_ = false;
  int64_t uses_ = 0;
  AdapterOffers adapters_;
  KernelsElsewhere elsewhere_;
  bool changed_ = false;

  mutable Mutex mutex_;
  std::vector<ServedModel> public_models_ ABSL_GUARDED_BY(mutex_);
  std::vector<WorkerInfo> public_workers_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> public_running_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
