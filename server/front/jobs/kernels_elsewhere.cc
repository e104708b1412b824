// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/kernels_elsewhere.h"

#include "kernels/dispatch/kernel_catalog.h"

namespace reel::front {

std::vector<absl::StatusOr<kernels::KernelPlan>> KernelsElsewhere::Plans(
    const Need& need, const model::ModelCard* card) const {
  std::vector<absl::StatusOr<kernels::KernelPlan>> plans;
  const auto lists = lists_.find(need.model);
  if (lists == lists_.end() || !need.worker.empty()) return plans;
  const auto calls = card == nullptr ? std::vector<kernels::KernelCall>() : card->calls;
  for (const auto& list : lists->second) {
    plans.push_back(kernels::MakePlan(list, need.profile, need.variants, calls));
  }
  return plans;
}

}  // namespace reel::front
