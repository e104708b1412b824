// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/revival.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/front/scheduling/worker_costs.h"

namespace reel::front {

Revival::Revival(const Admission& admission, const Fleet& fleet, const CostModel& costs,
                 const ByteQuota& bytes, const MediaStore& media, const Clock& clock)
    : admission_(admission),
      fleet_(fleet),
      costs_(costs),
      bytes_(bytes),
      media_(media),
      clock_(clock) {}

ActiveJob Revival::Revive(JobRow row, const Video& video, uint64_t after,
                          int64_t condition_bytes) const {
  const absl::Duration now = clock_.Monotonic();
  ActiveJob job(Phase::kQueued);
  job.id = row.id;
  job.tenant = row.tenant;
  job.attempt = row.attempt;
  job.row = std::move(row);
  job.row.video.clear();
  job.priority = video.priority;
  job.log = std::make_shared<LoggedJob>(video, after, media_);
  const absl::Duration asked = video.deadline - video.create_time;
  const absl::Duration left = std::clamp(video.deadline - clock_.Wall(), absl::ZeroDuration(),
                                         std::max(asked, absl::ZeroDuration()));
  job.accepted = job.last_event = job.stage_since = now;
  job.deadline = now + left;
  job.need.model = video.spec.model;
  job.need.worker = video.spec.worker;
  admission_.ExpandProfile(video.spec.kernels, job.need);
  if (const model::ModelCard* card = fleet_.FindCard(job.need.model)) {
    job.need.shape = ShapeOf(video.spec, *card, Admission::PlanName(job.need));
    // As one that this server has let in itself: else those that come later would be quoted for
    // less than those that a worker holds, and go before them.
    job.need.shape.where = WhereOf(job.need);
    const std::vector<KindCost> kinds = CostsByKind(fleet_, costs_, job.need);
    job.need.shape.where = kinds.front().where;
    job.cost = kinds.front().cost;
    job.devices = kinds.front().devices;
    job.pool = PoolCostOf(fleet_, kinds);
    job.need.memory_bytes = PeakMemoryOf(fleet_, costs_, job.need);
  }
  job.condition_bytes = condition_bytes;
  Reserve(job, video.spec);
  return job;
}

std::string Revival::WhereOf(const Need& need) const {
  for (const auto& [name, worker] : fleet_.workers()) {
    if (fleet_.Suits(worker, need)) return fleet_.WhereOf(worker, need.model);
  }
  return "";
}

// What was let in stays, though its tenant may have no room for it now.
void Revival::Reserve(ActiveJob& job, const model::GenerationSpec& spec) const {
  WorkShape shape = job.need.shape;
  if (shape.passes.empty()) {
    shape.frames = spec.num_frames;
    shape.frame_pixels = int64_t{spec.width} * spec.height * spec.num_frames;
  }
  const TenantBytes tenant = bytes_.Of(job.tenant);
  job.reserved_bytes =
      ReservationFor(costs_.Output(shape), job.condition_bytes, tenant).value_or(0);
}

}  // namespace reel::front
