// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/trace_metrics.h"

namespace reel::front {

TraceMetrics::TraceMetrics(prometheus::Registry& registry) {
  auto& family = prometheus::BuildCounter()
                     .Name("reel_traces_total")
                     .Help(
                         "Traces of ended videos: sent to the collector; dropped since too many "
                         "waited (full), refused by it, or not sent before the server's end "
                         "(lost).")
                     .Register(registry);
  const std::array<const char*, kEnds> results = {"sent", "full", "refused", "lost"};
  for (size_t i = 0; i < kEnds; ++i) ends_[i] = &family.Add({{"result", results[i]}});
  refused_spans_ = &prometheus::BuildCounter()
                        .Name("reel_trace_refused_spans_total")
                        .Help("Spans that the collector left out of traces that it took.")
                        .Register(registry)
                        .Add({});
}

void TraceMetrics::TracesEnded(TraceEnd how, int count) {
  ends_[static_cast<size_t>(how)]->Increment(count);
}

void TraceMetrics::SpansRefused(int64_t count) {
  refused_spans_->Increment(static_cast<double>(count));
}

}  // namespace reel::front
