// SPDX-License-Identifier: Apache-2.0
// Costs of a job at workers of different kinds: single devices and groups, or devices of several
// generations. They are learned for each kind; see cost_model.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/scheduling/planned_worker.h"
#include "server/front/scheduling/worker_table.h"

namespace reel::front {

// Of one job, on one kind of device.
struct KindCost {
  std::string kind;   // "NVIDIA H200"
  std::string where;  // WorkerTable::WhereOf
  Cost cost;
  int devices = 1;  // that work on it at once
};

// Of one job in a pool of several kinds, whichever worker will make it.
struct PoolCost {
  // At a worker as they are on average: in that time all that are ready make as many such jobs as
  // they are.
  absl::Duration typical_run;
  absl::Duration least_p90;  // where it takes the least
  int devices = 1;           // that would work on it there
};

// Whether workers that are ready are of more than one kind.
bool HasSeveralKinds(const WorkerTable& table);
Cost CostAt(const WorkerTable& table, const CostModel& costs, const PlannedWorker& worker,
            const Need& need);
// Of each kind that is ready and could run it, the fastest first; those of which nothing is known
// come last. Never empty: without any worker, of `need` as it is.
std::vector<KindCost> CostsByKind(const WorkerTable& table, const CostModel& costs,
                                  const Need& need);
// The worker's own; null: nothing is known of its kind.
const KindCost* ObservedAt(absl::Span<const KindCost> kinds, const PlannedWorker& worker);
// Of `kinds`; one of which nothing is known counts as the first. nullopt: they are one.
std::optional<PoolCost> PoolCostOf(const WorkerTable& table, absl::Span<const KindCost> kinds);
// The most that it would take of a device's memory, of whatever kind: it may go to any.
int64_t PeakMemoryOf(const WorkerTable& table, const CostModel& costs, const Need& need);

}  // namespace reel::front
