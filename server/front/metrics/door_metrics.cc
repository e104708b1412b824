// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/door_metrics.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/front/metrics/buckets.h"

namespace reel::front {

DoorMetrics::DoorMetrics(prometheus::Registry& registry)
    : requests_(prometheus::BuildCounter()
                    .Name("reel_http_requests_total")
                    .Help("Requests of the HTTP door by route and status; 0: broken off.")
                    .Register(registry)),
      duration_(prometheus::BuildHistogram()
                    .Name("reel_http_request_duration_seconds")
                    .Help("From a request's head to the end of its reply, streams included.")
                    .Register(registry)
                    .Add({}, buckets::Call())),
      connections_(prometheus::BuildGauge()
                       .Name("reel_http_connections")
                       .Help("Open connections of the HTTP door.")
                       .Register(registry)
                       .Add({})) {
  auto& cuts = prometheus::BuildCounter()
                   .Name("reel_http_cuts_total")
                   .Help("Connections of the HTTP door that were cut, by the limit they reached.")
                   .Register(registry);
  const std::array<const char*, kCuts> reasons = {"header", "body", "stall", "idle", "limit"};
  for (size_t i = 0; i < kCuts; ++i) cuts_[i] = &cuts.Add({{"reason", reasons[i]}});
}

void DoorMetrics::RequestEnded(std::string_view route, int status, absl::Duration took) {
  requests_.Add({{"route", std::string(route)}, {"code", absl::StrCat(status)}}).Increment();
  duration_.Observe(absl::ToDoubleSeconds(took));
}

void DoorMetrics::ConnectionOpened() { connections_.Increment(); }
void DoorMetrics::ConnectionClosed() { connections_.Decrement(); }
void DoorMetrics::ConnectionCut(DoorCut why) { cuts_[static_cast<size_t>(why)]->Increment(); }

}  // namespace reel::front
