// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/tenant_ledger.h"

namespace reel::front {
namespace {

int64_t MinuteOf(absl::Duration now) { return absl::ToInt64Minutes(now); }

}  // namespace

int64_t TenantLedger::stored(const std::string& tenant) const {
  const auto found = stored_.find(tenant);
  return found == stored_.end() ? 0 : found->second;
}

void TenantLedger::AddDeviceSeconds(const std::string& tenant, double seconds, absl::Duration now) {
  auto& minutes = used_[tenant];
  const int64_t minute = MinuteOf(now);
  while (!minutes.empty() && minutes.front().first <= minute - 60) minutes.pop_front();
  if (minutes.empty() || minutes.back().first != minute) minutes.emplace_back(minute, 0);
  minutes.back().second += seconds;
}

double TenantLedger::DeviceSecondsOfHour(const std::string& tenant, absl::Duration now) const {
  const auto found = used_.find(tenant);
  if (found == used_.end()) return 0;
  double sum = 0;
  for (const auto& [minute, seconds] : found->second) {
    if (minute > MinuteOf(now) - 60) sum += seconds;
  }
  return sum;
}

}  // namespace reel::front
