// SPDX-License-Identifier: Apache-2.0
// Finds workers that could run a job, by its model and by their memory.
#pragma once

#include <optional>

#include "server/front/scheduling/fleet_worker.h"
#include "server/front/scheduling/worker_memory.h"
#include "server/front/scheduling/worker_table.h"

namespace reel::front {

// Whether a worker that may run the job has its model, or will soon.
bool HasModel(const WorkerTable& table, const Need& need);
// The worker that would load the model of the job on demand, the one with most room; null: none
// would.
const FleetWorker* Offering(const WorkerTable& table, const Need& need);
// Of the worker that has the most memory for the job, with nobody else there; nullopt: it may fit,
// or nobody knows.
std::optional<MemoryNeed> Unfit(const WorkerTable& table, const Need& need);
// Whether any worker's memory is accounted for.
bool CountsMemory(const WorkerTable& table);

}  // namespace reel::front
