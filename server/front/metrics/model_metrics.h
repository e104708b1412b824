// SPDX-License-Identifier: Apache-2.0
// Models that are served, as series: what they are, whether they are ready, who waits for them.
#pragma once

#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <map>
#include <string>
#include <vector>

#include "kernels/base/mutex.h"
#include "server/front/jobs/job_observer.h"

namespace reel::front {

// Thread-safe.
class ModelMetrics {
 public:
  explicit ModelMetrics(prometheus::Registry& registry);

  // All that are served now. Series of others go: a configuration brings as many as it has.
  void Set(const std::vector<ModelGauges>& models);

 private:
  struct Series {
    prometheus::Gauge* info = nullptr;  // null: what it is is not known yet
    prometheus::Gauge* ready = nullptr;
    prometheus::Gauge* age = nullptr;
    std::string weights, dtype;  // as `info` has them
  };
  void SetInfo(const ModelGauges& model, Series& series);
  void Remove(const Series& series);

  prometheus::Family<prometheus::Gauge>& info_;
  prometheus::Family<prometheus::Gauge>& ready_;
  prometheus::Family<prometheus::Gauge>& age_;
  Mutex mutex_;
  std::map<std::string, Series, std::less<>> series_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
