// SPDX-License-Identifier: Apache-2.0
// Series of calls, streams and refused requests at every door: fed by rpc/, http/ and health/, and
// by jobs/ for requests that reached it.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/front/api/call_observer.h"
#include "server/front/metrics/families.h"

namespace reel::front {

// Requests by how they ended, and refusals by reason: fed by rpc/ for what never reached jobs/, and
// by jobs/ for the rest.
inline constexpr const char* ModeName(bool detached) { return detached ? "async" : "stream"; }

// Thread-safe.
class RefusalMetrics {
 public:
  // `profiles`: the kernel profiles whose series exist from the start.
  RefusalMetrics(prometheus::Registry& registry, const std::vector<std::string>& profiles,
                 prometheus::Family<prometheus::Counter>& dropped);

  void Refused(const absl::Status& why, bool detached);
  // `outcome`: ok, cancelled, deadline, rejected, invalid or failed.
  void Ended(bool detached, const std::string& profile, const std::string& outcome);

 private:
  CappedFamily<prometheus::Counter> requests_;
  prometheus::Family<prometheus::Counter>& rejections_;
};

// Series of calls and streams in rpc/ and health/.
// Thread-safe; every series exists from the start.
class CallMetrics final : public CallObserver {
 public:
  CallMetrics(prometheus::Registry& registry, RefusalMetrics& refusals);

  void CallStarted(Method method) override { Of(method).started->Increment(); }
  void CallReceived(Method method) override { Of(method).received->Increment(); }
  void CallSent(Method method) override { Of(method).sent->Increment(); }
  void CallEnded(Method method, absl::StatusCode code, absl::Duration took) override;
  void RequestRefused(const absl::Status& why, bool detached) override {
    refusals_.Refused(why, detached);
  }
  void StreamOpened() override { open_streams_.Increment(); }
  void StreamClosed() override { open_streams_.Decrement(); }
  void StreamBuffered(int64_t bytes) override { buffered_.Increment(static_cast<double>(bytes)); }
  void FirstEvent(absl::Duration after) override {
    first_event_.Observe(absl::ToDoubleSeconds(after));
  }
  void FirstChunk(absl::Duration after) override {
    first_chunk_.Observe(absl::ToDoubleSeconds(after));
  }
  void PreviewSent() override { previews_.Increment(); }
  void SlowReaderCut() override { slow_cuts_.Increment(); }

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

// Series of the HTTP door.
// Thread-safe.
class DoorMetrics final : public DoorObserver {
 public:
  explicit DoorMetrics(prometheus::Registry& registry);

  void RequestEnded(std::string_view route, int status, absl::Duration took) override;
  void ConnectionOpened() override { connections_.Increment(); }
  void ConnectionClosed() override { connections_.Decrement(); }
  void ConnectionCut(DoorCut why) override { cuts_[static_cast<size_t>(why)]->Increment(); }

 private:
  static constexpr size_t kCuts = 5;

  prometheus::Family<prometheus::Counter>& requests_;
  prometheus::Histogram& duration_;
  prometheus::Gauge& connections_;
  std::array<prometheus::Counter*, kCuts> cuts_{};
};

}  // namespace reel::front
