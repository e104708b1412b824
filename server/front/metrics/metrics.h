// SPDX-License-Identifier: Apache-2.0
// Everything that /metrics shows: the observers that other folders feed, and the text.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "server/front/api/call_observer.h"
#include "server/front/jobs/fleet_status.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/kernel_log/xid.h"
#include "server/front/traces/trace_observer.h"

namespace reel::front {

struct MetricsOptions {
  std::string version, revision;
  std::vector<std::string> profiles;  // kernel profiles, built-in and configured
  std::vector<std::string> tenants;   // configured
  std::vector<std::pair<std::string, std::string>> arms = {};  // experiments and their arms
};

// Thread-safe.
class Metrics {
 public:
  explicit Metrics(const MetricsOptions& options);
  ~Metrics();

  JobObserver& jobs();
  CallObserver& calls();
  DoorObserver& door();
  TraceObserver& traces();
  void SetDraining(bool draining);
  // The certificate that new connections get holds until then.
  void SetCertificateEnd(absl::Time valid_until);
  // What is asked at each scrape, from then on, while this lives.
  void WatchFleet(std::function<std::optional<FleetStatus>()> look);
  // Errors of GPUs that the driver wrote into the kernel's log.
  void CountXids(XidClass what, int count);
  // The server did not answer its own call.
  void CountSelfCheckMiss();

  // Prometheus' text format, version 0.0.4.
  std::string Text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reel::front
