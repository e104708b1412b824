// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/step_limits.h"

#include <algorithm>

namespace reel::front {
namespace {

constexpr absl::Duration kLeastStepLimit = absl::Seconds(5);
// Before the first step of a model with weights: kernels are compiled and tuned in it.
constexpr absl::Duration kFirstStepLimit = absl::Minutes(2);

}  // namespace

void StepLimits::Renew(const std::string& name) {
  FleetWorker* worker = fleet_.Find(name);
  if (worker == nullptr || (worker->held.empty() && !worker->shadow)) return;
  // All that it holds may be in one step.
  absl::Duration step, piece, limit = kLeastStepLimit;
  const auto add = [&](const WorkShape& shape) {
    const Cost cost = costs_.Predict(shape);
    if (!cost.observed && shape.weights) limit = std::max(limit, kFirstStepLimit);
    step += cost.longest_step_p90();
    piece = std::max({piece, cost.decode_p90, cost.text});
  };
  for (const auto& [id, held] : worker->held) add(held.shape);
  if (worker->shadow) add(worker->shadow->shape);
  limit = std::max({limit, 10 * step, 10 * piece});
  if (limit == worker->step_limit) return;
  worker->step_limit = limit;
  pool_.SetStepLimit(name, limit);
}

}  // namespace reel::front
