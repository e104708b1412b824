// SPDX-License-Identifier: Apache-2.0
// Series of the time that videos save by sharing steps.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/registry.h>

#include <string>

#include "server/front/metrics/capped_family.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

// Thread-safe.
class SharingMetrics {
 public:
  SharingMetrics(prometheus::Registry& registry, prometheus::Family<prometheus::Counter>& dropped);

  void Stepped(const std::string& worker, const StepSample& sample);

 private:
  CappedFamily<prometheus::Counter> shared_;
  CappedFamily<prometheus::Counter> apart_;
  CappedFamily<prometheus::Counter> left_out_;
};

}  // namespace reel::front
