// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/means.h"

namespace reel::front {

Means MeansOf(const JobService& jobs) {
  Means means;
  for (const WorkerInfo& worker : jobs.Workers()) {
    if (worker.state != WorkerState::kReady) continue;
    ++means.devices;
    means.idle += jobs.Running(worker.name) == 0 ? 1 : 0;
    means.workers.insert(worker.name);
  }
  if (means.devices == 0) return means;
  for (const ServedModel& model : jobs.Models()) {
    // One on demand is loaded for its first video.
    if (model.ready || model.state == ModelState::kOnDemand) means.models.insert(model.card.name);
  }
  return means;
}

}  // namespace reel::front
