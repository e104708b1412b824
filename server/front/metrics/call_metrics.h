// SPDX-License-Identifier: Apache-2.0
// Series of calls and streams in rpc/ and health/.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <vector>

#include "server/front/api/call_observer.h"
#include "server/front/metrics/refusal_metrics.h"

namespace reel::front {

// Thread-safe; every series exists from the start.
class CallMetrics final : public CallObserver {
 public:
  CallMetrics(prometheus::Registry& registry, RefusalMetrics& refusals);

  void CallStarted(Method method) override;
  void CallReceived(Method method) override;
  void CallSent(Method method) override;
  void CallEnded(Method method, absl::StatusCode code, absl::Duration took) override;
  void RequestRefused(const absl::Status& why, bool detached) override;
  void StreamOpened() override;
  void StreamClosed() override;
  void StreamBuffered(int64_t bytes) override;
  void FirstEvent(absl::Duration after) override;
  void FirstChunk(absl::Duration after) override;
  void PreviewSent() override;
  void SlowReaderCut() override;

 private:
  static constexpr size_t kCodes = 17;
  struct MethodSeries {
    prometheus::Counter* started = nullptr;
    prometheus::Counter* received = nullptr;
    prometheus::Counter* sent = nullptr;
    std::array<prometheus::Counter*, kCodes> handled{};  // null for codes it does not return
    prometheus::Histogram* handling = nullptr;           // null for probes
  };
  MethodSeries& Of(Method method) { return methods_[static_cast<size_t>(method)]; }
  void AddMethods(prometheus::Registry& registry);

  RefusalMetrics& refusals_;
  prometheus::Family<prometheus::Counter>& handled_;
  std::vector<MethodSeries> methods_;
  prometheus::Gauge& open_streams_;
  prometheus::Gauge& buffered_;
  prometheus::Histogram& first_event_;
  prometheus::Histogram& first_chunk_;
  prometheus::Counter& previews_;
  prometheus::Counter& slow_cuts_;
};

}  // namespace reel::front
