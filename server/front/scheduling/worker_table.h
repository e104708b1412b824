// SPDX-License-Identifier: Apache-2.0
// The workers of this server with the jobs they hold, the models' cards, and which worker could
// take which job.
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

  // Jobs at workers that a newcomer would overtake.
  using Passed = JobIds;
  using Names = std::set<std::string>;  // of workers
  // The worker with the least work before the job among those that can take it now; null if none.
  // Jobs in `passed` take no slot from it, workers in `closed` take nothing. For several kinds see
  // place_choice.h.
  const PlannedWorker* Place(const Need& need, const Passed& passed = {},
                             const Names& closed = {}) const;
  // Whether the worker could take the job now, with the jobs in `parked` parked.
  bool CanTake(const PlannedWorker& worker, const Need& need, const Passed& passed,
               const Passed& parked = {}) const {
    return HasRoom(worker, need, passed) && Suits(worker, need) &&
           Fits(worker, need, cards_, parked);
  }
  // Workers that could take the job now if they had the memory.
  Names ShortOfMemory(const Need& need, const Passed& passed) const;
  // How a worker's memory is used.
  MemoryAccount AccountOf(const PlannedWorker& worker) const {
    return front::AccountOf(worker, cards_);
  }
  // Whether any worker could take any job. Cheap.
  bool AnyRoom(const Passed& passed = {}) const;
  // The job's kernel plan on the worker, or why it cannot run; see kernels::MakePlan.
  absl::StatusOr<kernels::KernelPlan> Plan(const PlannedWorker& worker, const Need& need) const;
  // Identifies weights, kind of device and build, to which learned costs apply.
  std::string WhereOf(const PlannedWorker& worker, const std::string& model) const;
  // Whether the worker could run the job, however full it is now.
  bool Suits(const PlannedWorker& worker, const Need& need) const;
  // The same, once it is up and has loaded what it can.
  bool MayEverRun(const PlannedWorker& worker, const Need& need) const;
  // Whether no worker will ever run the job, because a device is out of service.
  bool Hopeless(const Need& need) const;
  // Rows that the job takes of a step.
  int64_t RowsTaken(const WorkShape& shape) const {
    return model::RowsTaken(shape.rows(), options_.fill_rows);
  }
  // Whether `jobs` jobs like this one, with `rows` rows together, run in one call there.
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

// Whether a worker that may run the job has its model or is loading it.
bool HasModel(const WorkerTable& table, const Need& need);
// The worker with most room that could load the job's model on demand; null if none.
const PlannedWorker* Offering(const WorkerTable& table, const Need& need);
// The need at the worker with the most memory for the job when idle, if it does not fit; nullopt if
// it may fit or that is not known.
std::optional<MemoryNeed> FindUnfit(const WorkerTable& table, const Need& need);
// Whether any worker's memory is accounted.
bool CountsMemory(const WorkerTable& table);

}  // namespace reel::front
