// SPDX-License-Identifier: Apache-2.0
// The standard process_* metrics, which prometheus-cpp lacks, and the counts of log lines; both are
// read when somebody asks.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <vector>

namespace reel::front {

class ProcessCollector final : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

class LogCollector final : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace reel::front
