// SPDX-License-Identifier: Apache-2.0
// What the fleet's tenants have used and what its queue would take, by the bills of videos that
// have ended: the same on every server, with devices or without.
#pragma once

#include <map>
#include <string>

#include "absl/time/time.h"
#include "server/front/jobs/tenant_ledger.h"
#include "server/front/jobs/video.h"

namespace reel::front {

// How much of its model's time a video takes, in units of pixels times frames times steps.
double WorkUnits(const model::GenerationSpec& spec);

// Confined to one thread. Times of ends are of the wall clock.
class FleetUse {
 public:
  // A video whose end was not counted yet.
  void Ended(const std::string& tenant, const Video& video, absl::Time now);
  double DeviceSecondsOfHour(const std::string& tenant, absl::Time now) const;
  // Of so much work; zero: no video of the model has ended yet.
  absl::Duration Predict(const std::string& model, double units) const;
  void Clear();

 private:
  TenantLedger used_;
  std::map<std::string, double> seconds_per_unit_;  // by model
};

}  // namespace reel::front
