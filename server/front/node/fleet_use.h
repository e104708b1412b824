// SPDX-License-Identifier: Apache-2.0
// Device time of the fleet's videos: used by its tenants, and queued for each model. Every server
// computes the same values.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/time/time.h"
#include "model/generation_spec.h"
#include "server/front/fleet/view_video.h"
#include "server/front/jobs/tenant_ledger.h"

namespace reel::front {

// Device time used by tenants, from the bills of ended videos. End times are wall clock times.
// Confined to one thread.
class FleetUse {
 public:
  // Adds the bill of a video, which must not have been counted yet.
  void Ended(const ViewBill& bill, absl::Time now);
  double DeviceSecondsOfHour(const std::string& tenant, absl::Time now) const;
  void Clear();

 private:
  TenantLedger used_;
};

// A proxy for a video's device time, good enough for sums over many: pixels x frames x steps.
int64_t PixelStepsOf(const model::GenerationSpec& spec);

// The work queued for each model, in device time, estimated from the model's latest videos. Every
// server reads those in the same log, so all servers agree.
// Confined to one thread.
class FleetBacklog {
 public:
  struct Load {
    int queued = 0, claimed = 0;
    int64_t work = 0;  // queued and claimed
    ModelPace pace;    // of the latest videos that ended
    // Whether a video of the model has ended yet.
    bool is_known() const { return pace.is_known(); }
    double seconds() const;                // device time; a guess until the pace is known
    double SecondsOf(int64_t part) const;  // device time of that work; zero until the pace is known
  };

  void Add(const std::string& model, bool claimed, int64_t work) {
    Change(model, claimed, work, 1);
  }
  void Remove(const std::string& model, bool claimed, int64_t work) {
    Change(model, claimed, work, -1);
  }
  // Sets the measured pace of each model.
  void SetPaces(const std::map<std::string, ModelPace>& paces);
  void Clear() { models_.clear(); }

  const std::map<std::string, Load>& models() const { return models_; }

 private:
  void Change(const std::string& model, bool claimed, int64_t work, int by);

  std::map<std::string, Load> models_;
};

}  // namespace reel::front
