// SPDX-License-Identifier: Apache-2.0
// The bytes that a tenant may keep here: what it holds, and what its queued and running videos have
// reserved. A video reserves when it is admitted, and more when its file outgrows that; it settles
// when it ends.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "server/front/jobs/active_job.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/tenant_bytes.h"
#include "server/front/jobs/tenant_ledger.h"
#include "server/front/scheduling/job_options.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class ByteQuota {
 public:
  ByteQuota(const JobTable& jobs, const TenantLedger& ledger, const JobOptions& options)
      : jobs_(jobs), ledger_(ledger), options_(options) {}

  TenantBytes Of(const std::string& tenant) const;
  // The file of the job has this size: a reservation below it grows. TENANT_QUOTA when the tenant
  // has no room for that; then nothing has changed.
  absl::Status Grow(ActiveJob& job, int64_t size) const;

 private:
  const JobTable& jobs_;
  const TenantLedger& ledger_;
  const JobOptions& options_;
};

}  // namespace reel::front
