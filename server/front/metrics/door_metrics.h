// SPDX-License-Identifier: Apache-2.0
// Series of the HTTP door.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>

#include "server/front/http/door_observer.h"

namespace reel::front {

// Thread-safe.
class DoorMetrics final : public DoorObserver {
 public:
  explicit DoorMetrics(prometheus::Registry& registry);

  void RequestEnded(std::string_view route, int status, absl::Duration took) override;
  void ConnectionOpened() override;
  void ConnectionClosed() override;
  void ConnectionCut(DoorCut why) override;

 private:
  static constexpr size_t kCuts = 5;

  prometheus::Family<prometheus::Counter>& requests_;
  prometheus::Histogram& duration_;
  prometheus::Gauge& connections_;
  std::array<prometheus::Counter*, kCuts> cuts_{};
};

}  // namespace reel::front
