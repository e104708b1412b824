// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/revival.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/front/scheduling/worker_costs.h"

namespace reel::front {

ActiveJob Revival::Revive(JobRow row, const Video& video, uint64_t after,
                          int64_t condition_bytes) const {
  const absl::Duration now = ports_.clock.Monotonic();
  ActiveJob job(Phase::kQueued);
  job.id = row.id;
  job.tenant = row.tenant;
  job.attempt = row.attempt;
  job.row = std::move(row);
  job.row.video.clear();
  job.priority = video.priority;
  job.log = std::make_shared<LoggedJob>(video, after, ports_.media);
  const absl::Duration asked = video.deadline - video.create_time;
  const absl::Duration left = std::clamp(video.deadline - ports_.clock.Wall(), absl::ZeroDuration(),
                                         std::max(asked, absl::ZeroDuration()));
  job.accepted = job.last_event = job.stage_since = now;
  job.deadline = now + left;
  job.need.model = video.spec.model;
  job.need.worker = video.spec.worker;
  admission_.ExpandProfile(video.spec.kernels, job.need);
  if (const model::ModelCard* card = state_.fleet.FindCard(job.need.model)) {
    job.need.shape = ShapeOf(video.spec, *card, Admission::PlanName(job.need));
    // As one that this server has let in itself: else those that come later would be quoted for
    // less than those that a worker holds, and go before them.
    job.need.shape.where = WhereOf(job.need);
    const std::vector<KindCost> kinds = CostsByKind(state_.fleet, state_.costs, job.need);
    job.need.shape.where = kinds.front().where;
    job.cost = kinds.front().cost;
    job.devices = kinds.front().devices;
    job.pool = PoolCostOf(state_.fleet, kinds);
    job.need.memory_bytes = PeakMemoryOf(state_.fleet, state_.costs, job.need);
  }
  job.condition_bytes = condition_bytes;
  Reserve(job, video.spec);
  return job;
}

std::string Revival::WhereOf(const Need& need) const {
  for (const auto& [name, worker] : state_.fleet.workers()) {
    if (state_.fleet.Suits(worker, need)) return state_.fleet.WhereOf(worker, need.model);
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
  const TenantBytes tenant = state_.bytes.Of(job.tenant);
  job.reserved_bytes =
      ReservationFor(state_.costs.Output(shape), job.condition_bytes, tenant).value_or(0);
}

}  // namespace reel::front
