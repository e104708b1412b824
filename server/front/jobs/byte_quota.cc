// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/byte_quota.h"

namespace reel::front {

TenantBytes ByteQuota::Of(const std::string& tenant) const {
  TenantBytes bytes;
  bytes.allowed = TenantOf(options_, tenant).max_stored_bytes;
  bytes.held = ledger_.stored(tenant);
  for (const auto& [id, job] : jobs_) {
    if (job.tenant != tenant) continue;
    bytes.held += job.condition_bytes;
    bytes.reserved += job.reserved_bytes;
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

}  // namespace reel::front
