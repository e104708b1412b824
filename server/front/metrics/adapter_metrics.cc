// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/adapter_metrics.h"

#include <cstdint>
#include <utility>

namespace reel::front {
namespace {

constexpr size_t kMostUploadSeries = 128;
constexpr double kSecondsOfNanosecond = 1e-9;

}  // namespace

AdapterMetrics::AdapterMetrics(prometheus::Registry& registry,
                               prometheus::Family<prometheus::Counter>& dropped)
    : uploads_(CounterFamily(registry, "reel_adapter_uploads_total",
                             "Adapters of requests that were read for a model, by whether they "
                             "could be used."),
               kMostUploadSeries, dropped),
      seconds_(HistogramFamily(registry, "reel_adapter_upload_seconds",
                               "Reading adapters of a request and bringing them to the device, of "
                               "requests whose adapters were not there.")
                   .Add({}, buckets::Stage())) {}

void AdapterMetrics::Uploaded(const std::string& model, const model::AdapterCounts& adapters) {
  const std::pair<const char*, int64_t> outcomes[] = {{"ok", adapters.uploaded},
                                                      {"refused", adapters.refused}};
  for (const auto& [outcome, count] : outcomes) {
    if (count <= 0) continue;
    uploads_.Get({{"model", model}, {"outcome", outcome}}).Increment(static_cast<double>(count));
  }
  if (adapters.uploaded + adapters.refused <= 0) return;
  seconds_.Observe(static_cast<double>(adapters.nanoseconds) * kSecondsOfNanosecond);
}

}  // namespace reel::front
