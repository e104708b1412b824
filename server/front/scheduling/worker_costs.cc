// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/worker_costs.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"

namespace reel::front {
namespace {

WorkShape ShapeAt(const WorkShape& shape, std::string where) {
  WorkShape there = shape;
  there.where = std::move(where);
  return there;
}

// Of each kind the first worker that is ready, has the model, is the one that is asked for where
// one is, and is accepted.
std::vector<const PlannedWorker*> OneOfEachKind(
    const WorkerTable& table, const Need& need,
    absl::FunctionRef<bool(const PlannedWorker&)> accepts) {
  std::vector<const PlannedWorker*> workers;
  std::set<std::string_view> seen;
  for (const auto& [name, worker] : table.workers()) {
    if (worker.info.state != WorkerState::kReady || !worker.Offers(need.model)) continue;
    if (!need.worker.empty() && need.worker != name) continue;
    if (seen.contains(worker.kind()) || !accepts(worker)) continue;
    seen.insert(worker.kind());
    workers.push_back(&worker);
  }
  return workers;
}

// In a pool of one kind.
int DevicesFor(const WorkerTable& table, const Need& need) {
  const auto workers = OneOfEachKind(table, need, [](const PlannedWorker&) { return true; });
  return workers.empty() ? 1 : workers.front()->num_devices();
}

}  // namespace

bool HasSeveralKinds(const WorkerTable& table) {
  const PlannedWorker* first = nullptr;
  for (const auto& [name, worker] : table.workers()) {
    if (worker.info.state != WorkerState::kReady) continue;
    if (first == nullptr) first = &worker;
    if (worker.kind() != first->kind()) return true;
  }
  return false;
}

Cost CostAt(const WorkerTable& table, const CostModel& costs, const PlannedWorker& worker,
            const Need& need) {
  return costs.Predict(ShapeAt(need.shape, table.WhereOf(worker, need.model)));
}

std::vector<KindCost> CostsByKind(const WorkerTable& table, const CostModel& costs,
                                  const Need& need) {
  std::vector<KindCost> kinds;
  if (HasSeveralKinds(table)) {
    const auto can_plan = [&](const PlannedWorker& worker) {
      return table.Plan(worker, need).ok();
    };
    for (const PlannedWorker* worker : OneOfEachKind(table, need, can_plan)) {
      kinds.push_back({std::string(worker->kind()), table.WhereOf(*worker, need.model),
                       CostAt(table, costs, *worker, need), worker->num_devices()});
    }
  }
  if (kinds.empty())
    return {{"", need.shape.where, costs.Predict(need.shape), DevicesFor(table, need)}};
  const auto known = std::stable_partition(kinds.begin(), kinds.end(),
                                           [](const auto& kind) { return kind.cost.observed; });
  std::stable_sort(kinds.begin(), known,
                   [](const auto& a, const auto& b) { return a.cost.p50() < b.cost.p50(); });
  return kinds;
}

const KindCost* ObservedAt(absl::Span<const KindCost> kinds, const PlannedWorker& worker) {
  for (const KindCost& kind : kinds) {
    if (kind.kind == worker.kind() && kind.cost.observed) return &kind;
  }
  return nullptr;
}

std::optional<PoolCost> PoolCostOf(const WorkerTable& table, absl::Span<const KindCost> kinds) {
  if (kinds.size() < 2) return std::nullopt;
  int workers = 0;
  double runs_a_second = 0;  // of all
  for (const auto& [name, worker] : table.workers()) {
    if (worker.info.state != WorkerState::kReady) continue;
    const KindCost* const own = ObservedAt(kinds, worker);
    const Cost& cost = own == nullptr ? kinds.front().cost : own->cost;
    if (cost.p50() <= absl::ZeroDuration()) return std::nullopt;
    ++workers;
    runs_a_second += 1 / absl::ToDoubleSeconds(cost.p50());
  }
  if (workers == 0) return std::nullopt;
  const KindCost& least = kinds.front();
  return PoolCost{absl::Seconds(workers / runs_a_second), least.cost.p90(), least.devices};
}

int64_t PeakMemoryOf(const WorkerTable& table, const CostModel& costs, const Need& need) {
  int64_t most = costs.PeakMemory(need.shape);
  if (!HasSeveralKinds(table)) return most;
  for (const PlannedWorker* worker :
       OneOfEachKind(table, need, [](const PlannedWorker&) { return true; })) {
    most =
        std::max(most, costs.PeakMemory(ShapeAt(need.shape, table.WhereOf(*worker, need.model))));
  }
  return most;
}

}  // namespace reel::front
