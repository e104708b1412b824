// SPDX-License-Identifier: Apache-2.0
// Series that are read when somebody asks: those of the process, and those of the fleet.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <functional>
#include <optional>
#include <vector>

#include "kernels/base/mutex.h"
#include "server/front/jobs/fleet_status.h"

namespace reel::front {

// The standard process_* metrics, which prometheus-cpp lacks, and the counts of log lines; both are
// read when somebody asks.
class ProcessCollector final : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

class LogCollector final : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override;
};

// The fleet that a server is part of, as series; read when scraped. A server that is alone has
// none.
// Thread-safe.
class FleetCollector final : public prometheus::Collectable {
 public:
  using Look = std::function<std::optional<FleetStatus>()>;

  void Watch(Look look);
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  mutable Mutex mutex_;
  Look look_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
