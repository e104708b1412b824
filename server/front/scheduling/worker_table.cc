// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/worker_table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/dispatch/kernel_catalog.h"

namespace reel::front {
namespace {

// Jobs that a worker holds at least before the next one waits here: while one decodes, another can
// be stepped.
constexpr size_t kFewHeld = 2;    // beside these, all that fit into a step: some of those may
constexpr size_t kMostHeld = 16;  // small jobs are packed up to fill_rows, but not without end

}  // namespace

HeldJob* WorkerTable::FindHeld(const std::string& job) {
  for (auto& [name, worker] : workers_) {
    const auto found = worker.held.find(job);
    if (found != worker.held.end()) return &found->second;
  }
  return nullptr;
}

PlannedWorker* WorkerTable::Find(const std::string& worker) {
  const auto found = workers_.find(worker);
  return found == workers_.end() ? nullptr : &found->second;
}

const PlannedWorker* WorkerTable::Find(const std::string& worker) const {
  const auto found = workers_.find(worker);
  return found == workers_.end() ? nullptr : &found->second;
}

const model::ModelCard* WorkerTable::FindCard(const std::string& model) const {
  const auto found = cards_.find(model);
  return found == cards_.end() ? nullptr : &found->second;
}

std::string WorkerTable::WhereOf(const PlannedWorker& worker, const std::string& model) const {
  const std::string_view kind = worker.kind();
  const model::ModelCard* card = FindCard(model);
  const std::string weights = card == nullptr ? "" : card->weights_sha256.substr(0, 12);
  return absl::StrCat(absl::string_view(kind.data(), kind.size()), ", ", options_.build, ", ",
                      weights);
}

absl::StatusOr<kernels::KernelPlan> WorkerTable::Plan(const PlannedWorker& worker,
                                                      const Need& need) const {
  const auto calls = worker.calls.find(need.model);
  return calls == worker.calls.end()
             ? kernels::MakePlan(worker.info.kernels, need.profile, need.variants)
             : kernels::MakePlan(worker.info.kernels, need.profile, need.variants, calls->second);
}

bool WorkerTable::Suits(const PlannedWorker& worker, const Need& need) const {
  if (worker.info.state != WorkerState::kReady || !worker.loaded.contains(need.model)) return false;
  if (!need.worker.empty() && need.worker != worker.info.name) return false;
  return Plan(worker, need).ok();
}

bool WorkerTable::MayEverRun(const PlannedWorker& worker, const Need& need) const {
  if (worker.info.state == WorkerState::kOut) return false;
  // What it will have when it is up again nobody knows.
  if (worker.info.state != WorkerState::kReady || (worker.loaded.empty() && worker.known.empty())) {
    return true;
  }
  return worker.Offers(need.model) && Plan(worker, need).ok();
}

bool WorkerTable::Hopeless(const Need& need) const {
  bool any_out = false;
  for (const auto& [name, worker] : workers_) {
    if (!need.worker.empty() && need.worker != name) continue;
    if (MayEverRun(worker, need)) return false;
    any_out |= worker.info.state == WorkerState::kOut;
  }
  return any_out;
}

bool WorkerTable::AnyRoom(const Passed& passed) const {
  Need least;
  least.shape.passes = {{.tokens = 1, .rows = 1, .steps = 1}};
  for (const auto& [name, worker] : workers_) {
    if (worker.info.state != WorkerState::kReady) continue;
    // What a worker packs is its own kind.
    if (!worker.held.empty()) {
      least.shape.model = worker.held.begin()->second.shape.model;
      least.shape.plan = worker.held.begin()->second.shape.plan;
    }
    if (HasRoom(worker, least, passed)) return true;
  }
  return false;
}

bool WorkerTable::HasRoom(const PlannedWorker& worker, const Need& need,
                          const Passed& passed) const {
  if (worker.is_dying) return false;
  if (worker.held.empty()) return true;
  if (options_.fifo || need.alone || worker.held.size() >= 2 * kMostHeld) return false;
  int64_t rows = RowsTaken(need.shape);
  size_t before = 0;
  bool packs = true;
  for (const auto& [job, held] : worker.held) {
    if (held.alone) return false;
    if (passed.contains(job) || held.parked()) continue;
    ++before;
    rows += RowsTaken(held.shape);
    packs &= held.shape.model == need.shape.model && held.shape.plan == need.shape.plan;
    // The others make it no less; they may be many, and this is asked for each job that waits.
    if (before >= kFewHeld && (!packs || rows > options_.fill_rows)) return false;
  }
  // Also if it shares no steps now: its engine learns only from jobs that it holds.
  const bool shares = packs && !worker.steps_alone.contains(need.shape.model);
  return before < kFewHeld || (shares && before < kMostHeld && rows <= options_.fill_rows);
}

WorkerTable::Names WorkerTable::ShortOfMemory(const Need& need, const Passed& passed) const {
  Names names;
  for (const auto& [name, worker] : workers_) {
    if (HasRoom(worker, need, passed) && Suits(worker, need) && !Fits(worker, need, cards_)) {
      names.insert(name);
    }
  }
  return names;
}

const PlannedWorker* WorkerTable::Place(const Need& need, const Passed& passed,
                                        const Names& closed) const {
  const PlannedWorker* best = nullptr;
  std::pair<absl::Duration, bool> best_cost;
  for (const auto& [name, worker] : workers_) {
    if (closed.contains(name) || !CanTake(worker, need, passed)) continue;
    const std::pair cost(worker.Backlog(passed), worker.shadow.has_value());
    if (best != nullptr && cost >= best_cost) continue;
    best = &worker;
    best_cost = cost;
  }
  return best;
}

int WorkerTable::NumReady() const {
  return static_cast<int>(std::count_if(workers_.begin(), workers_.end(), [](const auto& entry) {
    return entry.second.info.state == WorkerState::kReady;
  }));
}

bool WorkerTable::AllOut() const {
  return !workers_.empty() && std::all_of(workers_.begin(), workers_.end(), [](const auto& entry) {
    return entry.second.info.state == WorkerState::kOut;
  });
}

bool HasModel(const WorkerTable& table, const Need& need) {
  return std::any_of(table.workers().begin(), table.workers().end(), [&](const auto& entry) {
    const PlannedWorker& worker = entry.second;
    if (!need.worker.empty() && need.worker != entry.first) return false;
    return worker.loaded.contains(need.model) || worker.loading.contains(need.model);
  });
}

const PlannedWorker* Offering(const WorkerTable& table, const Need& need) {
  const PlannedWorker* best = nullptr;
  for (const auto& [name, worker] : table.workers()) {
    if (worker.info.state != WorkerState::kReady || worker.is_dying) continue;
    if (!need.worker.empty() && need.worker != name) continue;
    if (!worker.known.contains(need.model) || !table.Plan(worker, need).ok()) continue;
    const auto alone = NeedAlone(worker, need, table.cards());
    if (alone && alone->needed > alone->there) continue;
    const bool is_better =
        best == nullptr || table.AccountOf(worker).left() > table.AccountOf(*best).left();
    if (is_better) best = &worker;
  }
  return best;
}

std::optional<MemoryNeed> FindUnfit(const WorkerTable& table, const Need& need) {
  std::optional<MemoryNeed> best;
  for (const auto& [name, worker] : table.workers()) {
    if (!table.MayEverRun(worker, need) || (!need.worker.empty() && need.worker != name)) continue;
    // One that was not there yet may be larger.
    const auto alone = NeedAlone(worker, need, table.cards());
    if (!alone || alone->needed <= alone->there) return std::nullopt;
    if (!best || alone->there > best->there) best = alone;
  }
  return best;
}

bool CountsMemory(const WorkerTable& table) {
  return std::any_of(table.workers().begin(), table.workers().end(),
                     [](const auto& entry) { return entry.second.info.memory.total > 0; });
}

}  // namespace reel::front
