// SPDX-License-Identifier: Apache-2.0
// Counters that denoising steps add to, such as the time that videos save by sharing them.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/labels.h>
#include <prometheus/registry.h>

#include <cstddef>
#include <deque>
#include <string>

#include "server/front/metrics/families.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

inline constexpr size_t kMostStepSeries = 128;  // devices times models times profiles

// The profile is the first part of the plan's name. Forced variants are no label.
inline prometheus::Labels LabelsOfStep(const std::string& worker, const StepSample& sample) {
  return {{"device", worker},
          {"model", sample.model},
          {"profile", sample.plan.substr(0, sample.plan.find('+'))}};
}

// One counter for each row of the table in the source file.
// Thread-safe.
class SharingMetrics {
 public:
  SharingMetrics(prometheus::Registry& registry, prometheus::Family<prometheus::Counter>& dropped);

  void Stepped(const std::string& worker, const StepSample& sample);

 private:
  std::deque<CappedFamily<prometheus::Counter>> figures_;
};

}  // namespace reel::front
