// SPDX-License-Identifier: Apache-2.0
// Loads and unloads models while the server runs, by configuration and by calls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/front/jobs/endings.h"
#include "server/front/jobs/job_service.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/jobs/worker_roster.h"
#include "server/front/scheduling/job_options.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class ModelChanges {
 public:
  ModelChanges(WorkerRoster& roster, WorkerPool& pool, JobTable& jobs, Endings& endings,
               const Clock& clock, std::vector<ModelSource> sources);

  // Loads new and changed models and unloads removed ones. An unchanged model that a call has
  // unloaded stays unloaded.
  void SetSources(std::vector<ModelSource> sources);
  // As JobService; MODEL_NOT_FOUND if the model is not configured.
  absl::StatusOr<ServedModel> Load(const std::string& model);
  absl::StatusOr<ServedModel> Unload(const std::string& model);
  // Loads a model on demand on a worker, or unloads it there.
  void LoadOn(const std::string& worker, const std::string& model);
  void PutOut(const std::string& worker, const std::string& model);
  // Ends jobs whose model will not be loaded.
  void EndStranded();

 private:
  const ModelSource* Find(const std::string& model) const;
  std::vector<std::string> WorkersOf(const ModelSource& source) const;
  void TellOnDemand();
  void Send(const ModelSource& source);
  void TakeAway(const std::string& model);
  ServedModel Shown(const std::string& model) const;

  WorkerRoster& roster_;
  WorkerPool& pool_;
  JobTable& jobs_;
  Endings& endings_;
  const Clock& clock_;
  std::vector<ModelSource> sources_;
  int64_t revision_ = 0;  // of the latest load command
};

}  // namespace reel::front
