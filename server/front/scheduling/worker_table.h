// SPDX-License-Identifier: Apache-2.0
// The workers of this server and what each holds, the models' cards, and who could take which job.
// A value.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/model_card.h"
#include "model/pass_work.h"
#include "server/front/scheduling/job_options.h"
#include "server/front/scheduling/planned_worker.h"

namespace reel::front {

// Confined to one thread.
class WorkerTable {
 public:
  // Outlives it.
  explicit WorkerTable(const JobOptions& options) : options_(options) {}

  PlannedWorker* Find(const std::string& worker);
  const PlannedWorker* Find(const std::string& worker) const;
  HeldJob* FindHeld(const std::string& job);
  const std::map<std::string, PlannedWorker>& workers() const { return workers_; }
  const Cards& cards() const { return cards_; }
  const model::ModelCard* FindCard(const std::string& model) const;

  // Jobs that workers hold and that another would go before.
  using Passed = JobIds;
  using Names = std::set<std::string>;  // of workers
  // The worker with the least before the job among those that can take it now; null: none. Those in
  // `passed` take no slot from it. Workers in `closed` take nothing. Where they are of several
  // kinds see place_choice.h.
  const PlannedWorker* Place(const Need& need, const Passed& passed = {},
                             const Names& closed = {}) const;
  // Whether this worker could take it now, if it parked these.
  bool CanTake(const PlannedWorker& worker, const Need& need, const Passed& passed,
               const Passed& parked = {}) const {
    return HasRoom(worker, need, passed) && Suits(worker, need) &&
           Fits(worker, need, cards_, parked);
  }
  // Workers that would take it now, had they the memory.
  Names ShortOfMemory(const Need& need, const Passed& passed) const;
  // What of a worker's memory is given to whom.
  MemoryAccount AccountOf(const PlannedWorker& worker) const {
    return front::AccountOf(worker, cards_);
  }
  // Whether any worker could take any job at all; cheap.
  bool AnyRoom(const Passed& passed = {}) const;
  // The plan that the job would run by on the worker, or why it could not: see kernels::MakePlan.
  absl::StatusOr<kernels::KernelPlan> Plan(const PlannedWorker& worker, const Need& need) const;
  // Of which weights, kind of device and build a cost of the model on it is.
  std::string WhereOf(const PlannedWorker& worker, const std::string& model) const;
  // Whether the worker could ever run it, full or not.
  bool Suits(const PlannedWorker& worker, const Need& need) const;
  // The same, when it is there and has loaded what it can.
  bool MayEverRun(const PlannedWorker& worker, const Need& need) const;
  // A device is out of service, and without it no worker will ever run the job.
  bool Hopeless(const Need& need) const;
  // Of those of a step.
  int64_t RowsTaken(const WorkShape& shape) const {
    return model::RowsTaken(shape.rows(), options_.fill_rows);
  }
  // Whether so many jobs like this one, of so many rows together, are stepped in one call there.
  bool Packs(const PlannedWorker& worker, const WorkShape& like, size_t jobs, int64_t rows) const {
    return worker.Packs(like, jobs, rows, options_.fill_rows);
  }
  int NumReady() const;
  bool AllOut() const;

 protected:
  const JobOptions& options_;
  std::map<std::string, PlannedWorker> workers_;
  Cards cards_;

 private:
  bool HasRoom(const PlannedWorker& worker, const Need& need, const Passed& passed) const;
};

// Whether a worker that may run the job has its model, or will soon.
bool HasModel(const WorkerTable& table, const Need& need);
// The worker that would load the model of the job on demand, the one with most room; null: none
// would.
const PlannedWorker* Offering(const WorkerTable& table, const Need& need);
// Of the worker that has the most memory for the job, with nobody else there; nullopt: it may fit,
// or nobody knows.
std::optional<MemoryNeed> FindUnfit(const WorkerTable& table, const Need& need);
// Whether any worker's memory is accounted for.
bool CountsMemory(const WorkerTable& table);

}  // namespace reel::front
