// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/worker_costs.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace reel::front {
namespace {

WorkShape ShapeAt(const WorkShape& shape, std::string where) {
  WorkShape there = shape;
  there.where = std::move(where);
  return there;
}

}  // namespace

bool HasSeveralKinds(const Fleet& fleet) {
  const FleetWorker* first = nullptr;
  for (const auto& [name, worker] : fleet.workers()) {
    if (worker.info.state != WorkerState::kReady) continue;
    if (first == nullptr) first = &worker;
    if (worker.kind() != first->kind()) return true;
  }
  return false;
}

Cost CostAt(const Fleet& fleet, const CostModel& costs, const FleetWorker& worker,
            const Need& need) {
  return costs.Predict(ShapeAt(need.shape, fleet.WhereOf(worker, need.model)));
}

std::vector<KindCost> CostsByKind(const Fleet& fleet, const CostModel& costs, const Need& need) {
  std::vector<KindCost> kinds;
  std::set<std::string_view> seen;
  if (HasSeveralKinds(fleet)) {
    for (const auto& [name, worker] : fleet.workers()) {
      const bool ready = worker.info.state == WorkerState::kReady && worker.Offers(need.model);
      if (!ready || (!need.worker.empty() && need.worker != name)) continue;
      if (seen.contains(worker.kind()) || !fleet.Plan(worker, need).ok()) continue;
      seen.insert(worker.kind());
      std::string where = fleet.WhereOf(worker, need.model);
      Cost cost = costs.Predict(ShapeAt(need.shape, where));
      kinds.push_back({std::string(worker.kind()), std::move(where), std::move(cost)});
    }
  }
  if (kinds.empty()) return {{"", need.shape.where, costs.Predict(need.shape)}};
  const auto known = std::stable_partition(kinds.begin(), kinds.end(),
                                           [](const auto& kind) { return kind.cost.observed; });
  std::stable_sort(kinds.begin(), known,
                   [](const auto& a, const auto& b) { return a.cost.p50() < b.cost.p50(); });
  return kinds;
}

int64_t PeakMemoryOf(const Fleet& fleet, const CostModel& costs, const Need& need) {
  int64_t most = costs.PeakMemory(need.shape);
  if (!HasSeveralKinds(fleet)) return most;
  std::set<std::string_view> seen;
  for (const auto& [name, worker] : fleet.workers()) {
    if (worker.info.state != WorkerState::kReady || !worker.Offers(need.model)) continue;
    if (!need.worker.empty() && need.worker != name) continue;
    if (!seen.insert(worker.kind()).second) continue;
    most = std::max(most, costs.PeakMemory(ShapeAt(need.shape, fleet.WhereOf(worker, need.model))));
  }
  return most;
}

}  // namespace reel::front
