// SPDX-License-Identifier: Apache-2.0
// Device time of the fleet's videos: what its tenants have had, and the work that waits for each
// model. All servers say the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/time/time.h"
#include "model/generation_spec.h"
#include "server/front/fleet/view_video.h"
#include "server/front/jobs/tenant_ledger.h"

namespace reel::front {

// Device time of tenants, from the bills of videos that have ended. Confined to one thread. Times
// of ends are of the wall clock.
class FleetUse {
 public:
  // Of a video that was not counted yet.
  void Ended(const ViewBill& bill, absl::Time now);
  double DeviceSecondsOfHour(const std::string& tenant, absl::Time now) const;
  void Clear();

 private:
  TenantLedger used_;
};

// What a video's time goes with, well enough for a sum of many: pixels, frames, steps.
int64_t PixelStepsOf(const model::GenerationSpec& spec);

// The work that waits for each model, in device time. It is estimated from the model's latest
// videos, which every server reads in the same log, so all servers agree.
// Confined to one thread.
class FleetBacklog {
 public:
  struct Load {
    int queued = 0, claimed = 0;
    int64_t work = 0;  // of both
    ModelPace pace;    // of the latest that ended
    // Whether a video of the model has ended yet.
    bool is_known() const { return pace.is_known(); }
    double seconds() const;                // of a device; until it is known, a guess
    double SecondsOf(int64_t part) const;  // of its work; zero until it is known
  };

  void Add(const std::string& model, bool claimed, int64_t work) {
    Change(model, claimed, work, 1);
  }
  void Remove(const std::string& model, bool claimed, int64_t work) {
    Change(model, claimed, work, -1);
  }
  // Videos have ended with results.
  void SetPaces(const std::map<std::string, ModelPace>& paces);
  void Clear() { models_.clear(); }

  const std::map<std::string, Load>& models() const { return models_; }

 private:
  void Change(const std::string& model, bool claimed, int64_t work, int by);

  std::map<std::string, Load> models_;
};

}  // namespace reel::front
