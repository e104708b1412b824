// SPDX-License-Identifier: Apache-2.0
// Device time that tenants are charged for, whatever became of their videos: counted for the hour's
// limit, and kept so that a restart forgives nothing.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/job_records.h"
#include "server/front/jobs/tenant_ledger.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class Charges {
 public:
  Charges(TenantLedger& ledger, JobRecords& records, const Clock& clock)
      : ledger_(ledger), records_(records), clock_(clock) {}

  void Add(const std::string& tenant, absl::Duration device_time);

 private:
  TenantLedger& ledger_;
  JobRecords& records_;
  const Clock& clock_;
};

}  // namespace reel::front
