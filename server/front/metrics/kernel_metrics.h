// SPDX-License-Identifier: Apache-2.0
// Series of operators' device time: of the timed pieces of work, and an estimate for all.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/metrics/families.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// The time of operators, estimated from the pieces of work that were timed. A piece that was not
// timed is taken to be like the next timed one of its kind. So the estimates sum to all of the time
// up to that piece.
struct OperatorSeconds {
  std::string op, variant;  // op "gaps", without a variant: between operators
  double seconds = 0;
};

// Thread-safe.
class KernelSeconds {
 public:
  static constexpr size_t kMostKinds = 256;  // further plans of a model are taken for one

  // What a piece adds: nothing, until one of its kind was timed.
  std::vector<OperatorSeconds> Take(const std::string& worker, const StepSample& sample);

 private:
  using Kind = std::tuple<std::string, std::string, std::string, model::Stage>;

  absl::Duration TakeWaiting(const std::string& worker, const StepSample& sample);

  Mutex mutex_;
  std::map<Kind, absl::Duration> waiting_ ABSL_GUARDED_BY(mutex_);
};

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
