// SPDX-License-Identifier: Apache-2.0
// Requests by how they ended, and refusals by reason: fed by rpc/ for what never reached jobs/, and
// by jobs/ for the rest.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/registry.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/front/metrics/capped_family.h"

namespace reel::front {

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

}  // namespace reel::front
