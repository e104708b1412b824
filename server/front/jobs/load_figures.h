// SPDX-License-Identifier: Apache-2.0
// The load of the server now, for admission and for the metrics.
#pragma once

#include <string>
#include <vector>

#include "server/front/jobs/admission.h"
#include "server/front/jobs/byte_quota.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/drain.h"
#include "server/front/jobs/fleet.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/job_service.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/state_source.h"
#include "server/front/jobs/tenant_ledger.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/scheduling/job_options.h"
#include "server/front/store/media_store.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class LoadFigures {
 public:
  struct Parts {
    const JobTable& jobs;
    const TenantLedger& ledger;
    const ByteQuota& bytes;
    const MediaStore& media;
    const DrainState& drain;
    const StateSource& states;
    const Fleet& fleet;
    const CostModel& costs;
    const JobOptions& options;
    const Clock& clock;
  };
  explicit LoadFigures(const Parts& parts) : parts_(parts) {}

  Load Of(const std::string& tenant) const;
  // Of one that waits.
  Outlook OutlookOf(const ActiveJob& job) const;
  // With the outlook of this job.
  Load For(const NewJob& job, const CheckedRequest& request) const;
  // `capacity_seconds`: of all workers that are ready.
  QueueGauges Gauges(double capacity_seconds) const;

 private:
  std::vector<ModelGauges> Models() const;

  const Parts parts_;
};

}  // namespace reel::front
