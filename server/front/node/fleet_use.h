// SPDX-License-Identifier: Apache-2.0
// Device time of the fleet's tenants, from the bills of videos that have ended: the same on every
// server, with devices or without.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "server/front/fleet/view_video.h"
#include "server/front/jobs/tenant_ledger.h"

namespace reel::front {

// Confined to one thread. Times of ends are of the wall clock.
class FleetUse {
 public:
  // Of a video that was not counted yet.
  void Ended(const ViewBill& bill, absl::Time now);
  double DeviceSecondsOfHour(const std::string& tenant, absl::Time now) const;
  void Clear();

 private:
  TenantLedger used_;
};

}  // namespace reel::front
