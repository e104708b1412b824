// SPDX-License-Identifier: Apache-2.0
// A/B experiments as series: ends of their videos, and what a step takes.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
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
  // Of a known experiment's last arm against its first.
  void ShadowEnded(const ShadowResult& result);
  void StepsCompared(const std::string& experiment, const Ratio& ratio);

 private:
  // After the arms.
  void AddShadows(prometheus::Registry& registry);

  struct Arm {
    std::map<std::string, prometheus::Counter*> requests;  // by outcome
    prometheus::Counter* step_seconds = nullptr;
    prometheus::Counter* steps = nullptr;
  };

  std::map<std::pair<std::string, std::string>, Arm> arms_;
  std::map<std::string, std::string> second_arms_;  // by experiment
  struct Shadows {
    std::map<ShadowOutcome, prometheus::Counter*> ended;
    prometheus::Histogram* psnr_db = nullptr;
  };

  std::map<std::string, Shadows> shadows_;  // by experiment
  prometheus::Family<prometheus::Gauge>& step_ratio_;
};

}  // namespace reel::front
