// SPDX-License-Identifier: Apache-2.0
// Device time and stored bytes of each tenant, for its quotas.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/front/jobs/job_table.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/scheduling/job_options.h"
#include "server/front/store/media_store.h"

namespace reel::front {

// Account of a tenant's bytes. Pure.
struct TenantBytes {
  int64_t held = 0;      // finished videos, files, and the conditions of queued and running videos
  int64_t reserved = 0;  // for files of queued and running videos
  int64_t allowed = 0;   // 0: any number

  bool limited() const { return allowed > 0; }
  // For a tenant with a limit; negative if it holds more than is allowed now.
  int64_t room() const { return allowed - held - reserved; }
};

// Bytes to reserve for a file with `conditions` bytes beside it: its maximum, or the remaining room
// if that is less. nullopt if there is no room for its likely size.
std::optional<int64_t> ReservationFor(const OutputSize& output, int64_t conditions,
                                      const TenantBytes& tenant);

// TENANT_QUOTA, with the held, reserved and allowed bytes. `video`: its name, or empty. `of`: what
// needs the bytes.
absl::Status TooManyBytes(const std::string& tenant, const TenantBytes& bytes, int64_t needed,
                          const std::string& video, std::string_view of = "video");

// Whether the disk has free space. Fails with STORE_FULL.
absl::Status CheckDisk(const DiskUsage& disk);
// The same for an upload. Fails with TENANT_QUOTA or STORE_FULL.
absl::Status CheckFileRoom(const std::string& tenant, int64_t bytes, const TenantBytes& account,
                           const DiskUsage& disk);

// Totals of all kept states.
struct KeptStates {
  std::map<std::string, int64_t> bytes;  // by tenant
  int64_t count = 0;
  int64_t expired = 0;  // not counted above: expired before their videos
  int64_t damaged = 0;  // could not be opened since the process started
  // Bytes of uploaded files by tenant; not included above.
  std::map<std::string, int64_t> files = {};

  int64_t sum() const;
  friend bool operator==(const KeptStates&, const KeptStates&) = default;
};

// Confined to one thread. Times are monotonic.
class TenantLedger {
 public:
  void AddStored(const std::string& tenant, int64_t bytes) { stored_[tenant] += bytes; }
  void SetStates(KeptStates states) { states_ = std::move(states); }
  // Bytes of finished videos, their states, and uploaded files.
  int64_t stored(const std::string& tenant) const;
  const KeptStates& states() const { return states_; }

  void AddDeviceSeconds(const std::string& tenant, double seconds, absl::Duration now);
  // Used in the last hour, by whole minutes.
  double DeviceSecondsOfHour(const std::string& tenant, absl::Duration now) const;
  // The tenant's last hour as lines "unix-minute seconds", and their recovery by a process with
  // another monotonic clock. TakeUp skips unreadable and future lines.
  std::string Keep(const std::string& tenant, absl::Duration now, absl::Time wall) const;
  void TakeUp(const std::string& tenant, std::string_view kept, absl::Duration now,
              absl::Time wall);

 private:
  std::map<std::string, int64_t> stored_;
  KeptStates states_;
  // (minute, seconds), at most one hour.
  std::map<std::string, std::deque<std::pair<int64_t, double>>> used_;
};

// The bytes that a tenant may keep here: what it holds, and what its queued and running videos have
// reserved. A video reserves when it is admitted, and more when its file outgrows that; it settles
// when it ends.
// Confined to the dispatcher's thread. What it is given outlives it.
class ByteQuota {
 public:
  ByteQuota(const JobTable& jobs, const TenantLedger& ledger, const JobOptions& options)
      : jobs_(jobs), ledger_(ledger), options_(options) {}

  TenantBytes Of(const std::string& tenant) const;
  // The same in parts, for whoever walks through the jobs anyway.
  TenantBytes Kept(const std::string& tenant) const;
  static void Add(const ActiveJob& job, TenantBytes& bytes);
  // The file of the job has this size: a reservation below it grows. TENANT_QUOTA when the tenant
  // has no room for that; then nothing has changed.
  absl::Status Grow(ActiveJob& job, int64_t size) const;

 private:
  const JobTable& jobs_;
  const TenantLedger& ledger_;
  const JobOptions& options_;
};

}  // namespace reel::front
