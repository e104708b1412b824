// SPDX-License-Identifier: Apache-2.0
// Costs of a job at workers of different kinds: single devices, groups, several generations.
// Learned for each kind; see cost_model.h.
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

// Cost of a job on one kind of device.
struct KindCost {
  std::string kind;   // "NVIDIA H200"
  std::string where;  // WorkerTable::WhereOf
  Cost cost;
  int devices = 1;  // that work on it together
};

// Cost of a job in a pool of several kinds, whichever worker runs it.
struct PoolCost {
  // Run at an average worker: in this time n ready workers finish n such jobs.
  absl::Duration typical_run;
  absl::Duration least_p90;  // where it is fastest
  int devices = 1;           // that would work on it there
};

// Whether the ready workers are of several kinds.
bool HasSeveralKinds(const WorkerTable& table);
Cost CostAt(const WorkerTable& table, const CostModel& costs, const PlannedWorker& worker,
            const Need& need);
// Costs by kind of the ready workers that could run it, fastest first, unknown kinds last. Never
// empty: without workers it has one entry for `need` as it is.
std::vector<KindCost> CostsByKind(const WorkerTable& table, const CostModel& costs,
                                  const Need& need);
// The entry of the worker's kind; null if nothing is known of it.
const KindCost* ObservedAt(absl::Span<const KindCost> kinds, const PlannedWorker& worker);
// Combines `kinds`; unknown ones count as the first. nullopt if there is only one.
std::optional<PoolCost> PoolCostOf(const WorkerTable& table, absl::Span<const KindCost> kinds);
// Peak device memory over all kinds, since the job may go to any.
int64_t PeakMemoryOf(const WorkerTable& table, const CostModel& costs, const Need& need);

}  // namespace reel::front
