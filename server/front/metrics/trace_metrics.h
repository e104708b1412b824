// SPDX-License-Identifier: Apache-2.0
// Series of traces by outcome.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/registry.h>

#include <array>

#include "server/front/traces/trace_observer.h"

namespace reel::front {

// Thread-safe.
class TraceMetrics final : public TraceObserver {
 public:
  explicit TraceMetrics(prometheus::Registry& registry);

  void TracesEnded(TraceEnd how, int count) override;
  void SpansRefused(int64_t count) override;

 private:
  static constexpr size_t kEnds = 4;

  std::array<prometheus::Counter*, kEnds> ends_{};
  prometheus::Counter* refused_spans_;
};

}  // namespace reel::front
