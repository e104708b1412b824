// SPDX-License-Identifier: Apache-2.0
// Device time and stored bytes of each tenant: the figures behind its quota.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/time.h"

namespace reel::front {

// Confined to one thread. Times are of the monotonic clock.
class TenantLedger {
 public:
  void AddStored(const std::string& tenant, int64_t bytes) { stored_[tenant] += bytes; }
  // Bytes of kept states by tenant, all of them.
  void SetStates(std::map<std::string, int64_t> states) { states_ = std::move(states); }
  // Of finished videos and their states.
  int64_t stored(const std::string& tenant) const;
  int64_t states() const;

  void AddDeviceSeconds(const std::string& tenant, double seconds, absl::Duration now);
  // In the last hour, to the minute.
  double DeviceSecondsOfHour(const std::string& tenant, absl::Duration now) const;
  // The tenant's last hour as text, a line "unix-minute seconds" each, and taken up again by a
  // process whose monotonic clock begins anew. What cannot be read, or is of the future, is left.
  std::string Keep(const std::string& tenant, absl::Duration now, absl::Time wall) const;
  void TakeUp(const std::string& tenant, std::string_view kept, absl::Duration now,
              absl::Time wall);

 private:
  std::map<std::string, int64_t> stored_, states_;
  // (minute, seconds), at most an hour of them.
  std::map<std::string, std::deque<std::pair<int64_t, double>>> used_;
};

}  // namespace reel::front
