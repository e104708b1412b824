// SPDX-License-Identifier: Apache-2.0
// Series of what denoising steps add up to, such as the time that videos save by sharing them.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/registry.h>

#include <deque>
#include <string>

#include "server/front/metrics/families.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

// One for each row of the table in the source.
// Thread-safe.
class SharingMetrics {
 public:
  SharingMetrics(prometheus::Registry& registry, prometheus::Family<prometheus::Counter>& dropped);

  void Stepped(const std::string& worker, const StepSample& sample);

 private:
  std::deque<CappedFamily<prometheus::Counter>> figures_;
};

}  // namespace reel::front
