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
  if (worker == nullptr || worker->held.empty()) return;
  // All that it holds may be in one step.
  absl::Duration step, piece, limit = kLeastStepLimit;
  for (const auto& [id, held] : worker->held) {
    const Cost cost = costs_.Predict(held.shape);
    if (!cost.observed && held.shape.weights) limit = std::max(limit, kFirstStepLimit);
    step += cost.longest_step_p90();
    piece = std::max({piece, cost.decode_p90, cost.text});
  }
  limit = std::max({limit, 10 * step, 10 * piece});
  if (limit == worker->step_limit) return;
  worker->step_limit = limit;
  pool_.SetStepLimit(name, limit);
}

}  // namespace reel::front
