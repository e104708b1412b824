// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fleet_use.h"

#include <algorithm>

namespace reel::front {
namespace {

// Of the latest one, against those before it.
constexpr double kNewest = 0.2;

// The ledger's clock; that of ends is the wall's on every server.
absl::Duration ClockOf(absl::Time time) { return time - absl::UnixEpoch(); }

}  // namespace

double WorkUnits(const model::GenerationSpec& spec) {
  return static_cast<double>(spec.width) * spec.height * spec.num_frames *
         (spec.timesteps.empty() ? spec.num_inference_steps
                                 : static_cast<double>(spec.timesteps.size()));
}

void FleetUse::Ended(const std::string& tenant, const Video& video, absl::Time now) {
  if (!video.stats || video.stats->device_seconds <= 0) return;
  const double seconds = video.stats->device_seconds;
  // Of an hour ago and more nobody asks; one of the future is of a clock that is wrong.
  if (video.end_time > now - absl::Hours(1)) {
    used_.AddDeviceSeconds(tenant, seconds, ClockOf(std::min(video.end_time, now)));
  }
  const double units = WorkUnits(video.spec);
  if (video.state != VideoState::kSucceeded || units <= 0) return;
  const auto [known, is_first] = seconds_per_unit_.try_emplace(video.spec.model, seconds / units);
  if (!is_first) known->second += kNewest * (seconds / units - known->second);
}

double FleetUse::DeviceSecondsOfHour(const std::string& tenant, absl::Time now) const {
  return used_.DeviceSecondsOfHour(tenant, ClockOf(now));
}

absl::Duration FleetUse::Predict(const std::string& model, double units) const {
  const auto known = seconds_per_unit_.find(model);
  return known == seconds_per_unit_.end() ? absl::ZeroDuration()
                                          : absl::Seconds(known->second * units);
}

void FleetUse::Clear() { *this = {}; }

}  // namespace reel::front
