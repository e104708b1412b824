// SPDX-License-Identifier: Apache-2.0
// Series of operators' device time: of the timed pieces of work, and an estimate for all.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <string>

#include "server/front/metrics/capped_family.h"
#include "server/front/metrics/kernel_seconds.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// Thread-safe.
class KernelMetrics {
 public:
  KernelMetrics(prometheus::Registry& registry, prometheus::Family<prometheus::Counter>& dropped);

  // A worker's series exist from here on.
  void AddSeries(const std::string& worker);
  void Stepped(const std::string& worker, const StepSample& sample);

 private:
  CappedFamily<prometheus::Counter> sampled_;
  CappedFamily<prometheus::Counter> estimated_;
  CappedFamily<prometheus::Histogram> kernels_;
  KernelSeconds seconds_;
};

}  // namespace reel::front
