// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fleet_use.h"

#include <algorithm>

namespace reel::front {
namespace {

// The ledger's clock; that of ends is the wall's on every server.
absl::Duration ClockOf(absl::Time time) { return time - absl::UnixEpoch(); }

}  // namespace

void FleetUse::Ended(const ViewBill& bill, absl::Time now) {
  // Of an hour ago and more nobody asks; one of the future is of a clock that is wrong.
  if (bill.device_seconds <= 0 || bill.end_time <= now - absl::Hours(1)) return;
  used_.AddDeviceSeconds(bill.tenant, bill.device_seconds, ClockOf(std::min(bill.end_time, now)));
}

double FleetUse::DeviceSecondsOfHour(const std::string& tenant, absl::Time now) const {
  return used_.DeviceSecondsOfHour(tenant, ClockOf(now));
}

void FleetUse::Clear() { *this = {}; }

}  // namespace reel::front
