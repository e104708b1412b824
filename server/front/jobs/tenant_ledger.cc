// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/tenant_ledger.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

constexpr absl::Duration kRetry = absl::Seconds(30);

}  // namespace

std::optional<int64_t> ReservationFor(const OutputSize& output, int64_t conditions,
                                      const TenantBytes& tenant) {
  if (!tenant.limited()) return output.most;
  const int64_t room = tenant.room() - conditions;
  if (room <= 0 || output.likely > room) return std::nullopt;
  return std::min(output.most, room);
}

absl::Status TooManyBytes(const std::string& tenant, const TenantBytes& bytes, int64_t needed,
                          const std::string& video, std::string_view of) {
  ErrorDetails details;
  details.metadata = {{"held", absl::StrCat(bytes.held)},
                      {"reserved", absl::StrCat(bytes.reserved)},
                      {"needed", absl::StrCat(needed)},
                      {"limit", absl::StrCat(bytes.allowed)},
                      {"value", absl::StrCat(bytes.held + bytes.reserved)}};
  if (!video.empty()) details.metadata["video"] = video;
  details.quota_subject = "tenant:" + tenant;
  details.retry_after = kRetry;
  const std::string text =
      absl::StrCat("The tenant's limit of stored bytes is too small for this ",
                   absl::string_view(of.data(), of.size()), ": it needs ", needed, "; ", bytes.held,
                   " are held and ", bytes.reserved, " reserved by queued and running videos, of ",
                   bytes.allowed, " allowed");
  details.quota_description = text;
  return MakeError(Reason::kTenantQuota, text, details);
}

absl::Status CheckDisk(const DiskUsage& disk) {
  if (!disk.full()) return absl::OkStatus();
  const std::string what =
      disk.left_free_bytes == 0
          ? "The stored results have reached their limit"
          : absl::StrCat("The disk for results has only the ", disk.left_free_bytes >> 20,
                         " MiB left that are kept free; stored bytes");
  return MakeOverQuota(Reason::kStoreFull, "server", what, {disk.stored_bytes, disk.limit_bytes});
}

absl::Status CheckFileRoom(const std::string& tenant, int64_t bytes, const TenantBytes& account,
                           const DiskUsage& disk) {
  if (account.limited() && bytes > account.room()) {
    return TooManyBytes(tenant, account, bytes, "", "file");
  }
  return CheckDisk(disk);
}

TenantBytes ByteQuota::Kept(const std::string& tenant) const {
  TenantBytes bytes;
  bytes.allowed = TenantOf(options_, tenant).max_stored_bytes;
  bytes.held = ledger_.stored(tenant);
  return bytes;
}

void ByteQuota::Add(const ActiveJob& job, TenantBytes& bytes) {
  bytes.held += job.condition_bytes;
  bytes.reserved += job.reserved_bytes;
}

TenantBytes ByteQuota::Of(const std::string& tenant) const {
  TenantBytes bytes = Kept(tenant);
  for (const ActiveJob* job : jobs_.all()) {
    if (job->tenant == tenant) Add(*job, bytes);
  }
  return bytes;
}

absl::Status ByteQuota::Grow(ActiveJob& job, int64_t size) const {
  if (size <= job.reserved_bytes) return absl::OkStatus();
  TenantBytes bytes = Of(job.tenant);
  if (bytes.limited() && size - job.reserved_bytes > bytes.room()) {
    bytes.reserved -= job.reserved_bytes;  // of the others
    return TooManyBytes(job.tenant, bytes, size, "videos/" + job.id);
  }
  job.reserved_bytes = size;
  return absl::OkStatus();
}

namespace {

constexpr int64_t kHour = 60;

// Rounded down, also before the clock's beginning.
int64_t MinuteOf(absl::Duration now) {
  return absl::ToInt64Minutes(absl::Floor(now, absl::Minutes(1)));
}
int64_t MinuteOf(absl::Time wall) { return MinuteOf(wall - absl::UnixEpoch()); }

int64_t BytesOf(const std::map<std::string, int64_t>& bytes, const std::string& tenant) {
  const auto found = bytes.find(tenant);
  return found == bytes.end() ? 0 : found->second;
}

}  // namespace

int64_t TenantLedger::stored(const std::string& tenant) const {
  return BytesOf(stored_, tenant) + BytesOf(states_.bytes, tenant) + BytesOf(states_.files, tenant);
}

int64_t KeptStates::sum() const {
  int64_t sum = 0;
  for (const auto& [tenant, of_tenant] : bytes) sum += of_tenant;
  return sum;
}

void TenantLedger::AddDeviceSeconds(const std::string& tenant, double seconds, absl::Duration now) {
  auto& minutes = used_[tenant];
  const int64_t minute = MinuteOf(now);
  while (!minutes.empty() && minutes.front().first <= minute - kHour) minutes.pop_front();
  if (minutes.empty() || minutes.back().first != minute) minutes.emplace_back(minute, 0);
  minutes.back().second += seconds;
}

double TenantLedger::DeviceSecondsOfHour(const std::string& tenant, absl::Duration now) const {
  const auto found = used_.find(tenant);
  if (found == used_.end()) return 0;
  double sum = 0;
  for (const auto& [minute, seconds] : found->second) {
    if (minute > MinuteOf(now) - kHour) sum += seconds;
  }
  return sum;
}

std::string TenantLedger::Keep(const std::string& tenant, absl::Duration now,
                               absl::Time wall) const {
  std::string kept;
  const auto found = used_.find(tenant);
  if (found == used_.end()) return kept;
  for (const auto& [minute, seconds] : found->second) {
    const int64_t age = MinuteOf(now) - minute;
    if (age < kHour) absl::StrAppend(&kept, MinuteOf(wall) - age, " ", seconds, "\n");
  }
  return kept;
}

void TenantLedger::TakeUp(const std::string& tenant, std::string_view kept, absl::Duration now,
                          absl::Time wall) {
  const absl::string_view text(kept.data(), kept.size());
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, ' ');
    int64_t minute = 0;
    double seconds = 0;
    if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &minute) ||
        !absl::SimpleAtod(parts[1], &seconds) || !(seconds > 0)) {
      continue;
    }
    const int64_t then = MinuteOf(wall);
    if (minute > then || minute <= then - kHour) continue;
    AddDeviceSeconds(tenant, seconds, now - absl::Minutes(then - minute));
  }
}

}  // namespace reel::front
