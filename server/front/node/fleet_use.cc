// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fleet_use.h"

#include <algorithm>

namespace reel::front {
namespace {

// The ledger's clock; that of ends is the wall's on every server.
absl::Duration ClockOf(absl::Time time) { return time - absl::UnixEpoch(); }

}  // namespace

void FleetUse::Ended(const std::string& tenant, const Video& video, absl::Time now) {
  if (!video.stats || video.stats->device_seconds <= 0) return;
  const double seconds = video.stats->device_seconds;
  // Of an hour ago and more nobody asks; one of the future is of a clock that is wrong.
  if (video.end_time > now - absl::Hours(1)) {
    used_.AddDeviceSeconds(tenant, seconds, ClockOf(std::min(video.end_time, now)));
  }
}

double FleetUse::DeviceSecondsOfHour(const std::string& tenant, absl::Time now) const {
  return used_.DeviceSecondsOfHour(tenant, ClockOf(now));
}

void FleetUse::Clear() { *this = {}; }

}  // namespace reel::front
