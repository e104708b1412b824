// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/quotes.h"

#include <algorithm>

#include "kernels/base/status_macros.h"
#include "server/front/scheduling/worker_table.h"

namespace reel::front {

Video NewVideo(const NewJob& request, const CheckedRequest& checked, absl::Time wall) {
  Video video;
  video.tenant = request.tenant;
  video.spec = checked.spec;
  for (model::Condition& condition : video.spec.conditions) condition.bytes.reset();
  video.create_time = wall;
  video.deadline = wall + checked.timeout;
  video.progress.stage = model::Stage::kQueue;
  video.progress.num_steps = checked.need.shape.steps();
  video.request_id = request.request_id;
  video.priority = request.priority;
  video.labels = request.labels;
  video.trace_id = request.trace_id;
  video.caller_span = request.caller_span;
  return video;
}

Quotes::Quotes(const Admission& admission, const LoadFigures& load, const Quarantine& quarantine,
               const WorkerRoster& roster, const Clock& clock)
    : admission_(admission),
      load_(load),
      quarantine_(quarantine),
      roster_(roster),
      clock_(clock),
      random_(std::random_device("/dev/urandom")()) {}

absl::StatusOr<CheckedRequest> Quotes::Check(const NewJob& job) {
  return admission_.CheckRequest(job, random_() & 0xFFFFFFFF);
}

absl::StatusOr<Outlook> Quotes::CheckLoad(const NewJob& job, const CheckedRequest& request) {
  const double jitter = std::uniform_real_distribution<double>(0.8, 1.2)(random_);
  const Load load = load_.For(job, request);
  REEL_RETURN_IF_ERROR(
      admission_.CheckLoad(job, request, load, quarantine_, clock_.Monotonic(), jitter));
  Outlook outlook = load.outlook;
  outlook.wait = load.wait();
  return outlook;
}

int64_t Quotes::Reservation(const NewJob& job, const CheckedRequest& request) const {
  const TenantBytes tenant = load_.Of(job.tenant).tenant_bytes;
  return ReservationFor(request.output, request.condition_bytes, tenant).value_or(0);
}

absl::StatusOr<Video> Quotes::Validate(const NewJob& job) {
  REEL_ASSIGN_OR_RETURN(const CheckedRequest checked, Check(job));
  REEL_RETURN_IF_ERROR(admission_.CheckLoad(job, checked, load_.For(job, checked), quarantine_,
                                            clock_.Monotonic(), 1));
  return NewVideo(job, checked, clock_.Wall());
}

absl::StatusOr<CostEstimate> Quotes::Estimate(const NewJob& job) {
  REEL_ASSIGN_OR_RETURN(const CheckedRequest checked, Check(job));
  const Load load = load_.For(job, checked);
  CostEstimate estimate;
  estimate.spec = checked.spec;
  for (model::Condition& condition : estimate.spec.conditions) condition.bytes.reset();
  estimate.queue = load.wait();
  estimate.model_load = load.model_load;
  estimate.run_p50 = checked.cost.p50();
  estimate.run_p90 = std::max(checked.cost.p90(), estimate.run_p50);
  if (checked.kinds.size() > 1) {
    for (const auto& [kind, where, cost, devices] : checked.kinds) {
      estimate.devices.push_back(
          {kind, cost.p50(), std::max(cost.p90(), cost.p50()), cost.observed});
    }
  }
  if (CountsMemory(roster_)) estimate.peak_memory_bytes = checked.need.memory_bytes;
  estimate.device_seconds = absl::ToDoubleSeconds(checked.devices() * estimate.run_p50);
  estimate.refusal = admission_.CheckLoad(job, checked, load, quarantine_, clock_.Monotonic(), 1);
  estimate.queue_position = load.outlook.position;
  estimate.latent_tokens = checked.need.shape.tokens();
  return estimate;
}

}  // namespace reel::front
