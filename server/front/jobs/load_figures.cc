// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/load_figures.h"

namespace reel::front {

LoadFigures::LoadFigures(const JobTable& jobs, const TenantLedger& ledger, const ByteQuota& bytes,
                         const MediaStore& media, const DrainState& drain, const Clock& clock)
    : jobs_(jobs), ledger_(ledger), bytes_(bytes), media_(media), drain_(drain), clock_(clock) {}

Load LoadFigures::Of(const std::string& tenant) const {
  Load load;
  load.draining = drain_.closed;
  for (const auto& [id, job] : jobs_) {
    if (!job.deciding()) continue;
    load.backlog += job.Left();
    load.queued += job.at_worker() ? 0 : 1;
    load.tenant_jobs += job.row.tenant == tenant ? 1 : 0;
  }
  load.tenant_bytes = bytes_.Of(tenant);
  load.tenant_device_seconds = ledger_.DeviceSecondsOfHour(tenant, clock_.Monotonic());
  load.disk = media_.Usage();
  return load;
}

QueueGauges LoadFigures::Gauges(double capacity_seconds) const {
  QueueGauges gauges;
  for (const auto& [id, job] : jobs_) {
    if (!job.deciding()) continue;
    (job.at_worker() ? gauges.running : gauges.queued) += 1;
    gauges.backlog_seconds += absl::ToDoubleSeconds(job.Left());
  }
  gauges.capacity_seconds = capacity_seconds;
  const DiskUsage disk = media_.Usage();
  gauges.stored_bytes = disk.stored_bytes;
  gauges.stored_limit_bytes = disk.limit_bytes;
  return gauges;
}

}  // namespace reel::front
