// SPDX-License-Identifier: Apache-2.0
// Ends of the videos of A/B experiments, as series.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/registry.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/front/jobs/job_observer.h"

namespace reel::front {

// Thread-safe.
class ExperimentMetrics {
 public:
  // `arms`: each experiment's name with one of its arms'; all there will ever be.
  ExperimentMetrics(prometheus::Registry& registry,
                    const std::vector<std::pair<std::string, std::string>>& arms);

  // `outcome` as reel_requests_total has it. A video of no experiment is not counted.
  void Ended(const Video& video, const std::string& outcome);

 private:
  struct Arm {
    std::map<std::string, prometheus::Counter*> requests;  // by outcome
    prometheus::Counter* step_seconds = nullptr;
    prometheus::Counter* steps = nullptr;
  };

  std::map<std::pair<std::string, std::string>, Arm> arms_;
};

}  // namespace reel::front
