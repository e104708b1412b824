// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/places.h"

#include <algorithm>

namespace reel::front {

bool HasModel(const WorkerTable& table, const Need& need) {
  return std::any_of(table.workers().begin(), table.workers().end(), [&](const auto& entry) {
    const FleetWorker& worker = entry.second;
    if (!need.worker.empty() && need.worker != entry.first) return false;
    return worker.loaded.contains(need.model) || worker.loading.contains(need.model);
  });
}

const FleetWorker* Offering(const WorkerTable& table, const Need& need) {
  const FleetWorker* best = nullptr;
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

std::optional<MemoryNeed> Unfit(const WorkerTable& table, const Need& need) {
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
