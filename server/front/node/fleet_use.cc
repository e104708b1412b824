// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fleet_use.h"

#include <algorithm>

namespace reel::front {
namespace {

// Converts an end's wall clock time to the ledger's.
absl::Duration ClockOf(absl::Time time) { return time - absl::UnixEpoch(); }

}  // namespace

void FleetUse::Ended(const ViewBill& bill, absl::Time now) {
  // Ignores bills older than an hour; a time in the future comes from a wrong clock.
  if (bill.device_seconds <= 0 || bill.end_time <= now - absl::Hours(1)) return;
  used_.AddDeviceSeconds(bill.tenant, bill.device_seconds, ClockOf(std::min(bill.end_time, now)));
}

double FleetUse::DeviceSecondsOfHour(const std::string& tenant, absl::Time now) const {
  return used_.DeviceSecondsOfHour(tenant, ClockOf(now));
}

void FleetUse::Clear() { *this = {}; }

namespace {

// Assumed per video until one of the model has ended.
constexpr double kGuessSeconds = 30;

}  // namespace

int64_t PixelStepsOf(const model::GenerationSpec& spec) {
  return int64_t{spec.width} * spec.height * spec.num_frames * spec.num_steps();
}

double FleetBacklog::Load::seconds() const {
  if (!is_known()) return kGuessSeconds * (queued + claimed);
  return SecondsOf(work);
}

double FleetBacklog::Load::SecondsOf(int64_t part) const {
  return is_known() ? static_cast<double>(part) * pace.seconds / pace.work : 0;
}

void FleetBacklog::Change(const std::string& model, bool claimed, int64_t work, int by) {
  Load& load = models_[model];
  (claimed ? load.claimed : load.queued) += by;
  load.work += by * work;
}

void FleetBacklog::SetPaces(const std::map<std::string, ModelPace>& paces) {
  for (const auto& [model, pace] : paces) models_[model].pace = pace;
}

}  // namespace reel::front
