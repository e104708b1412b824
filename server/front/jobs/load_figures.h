// SPDX-License-Identifier: Apache-2.0
// The server's current load, for admission and metrics.
#pragma once

#include <string>
#include <vector>

#include "server/front/jobs/admission.h"
#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/job_service.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class LoadFigures {
 public:
  LoadFigures(const DispatcherState& state, const DispatcherPorts& ports)
      : state_(state), ports_(ports) {}

  Load Of(const std::string& tenant) const;
  // The load with the outlook for this job.
  Load For(const NewJob& job, const CheckedRequest& request) const;
  // `capacity_seconds`: of all ready workers.
  QueueGauges Gauges(double capacity_seconds) const;

 private:
  std::vector<ModelGauges> Models() const;

  const DispatcherState& state_;
  const DispatcherPorts& ports_;
};

}  // namespace reel::front
