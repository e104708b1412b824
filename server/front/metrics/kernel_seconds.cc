// SPDX-License-Identifier: Apache-2.0
#include "server/front/metrics/kernel_seconds.h"

#include <algorithm>
#include <utility>

namespace reel::front {

absl::Duration KernelSeconds::TakeWaiting(const std::string& worker, const StepSample& sample) {
  const MutexLock lock(mutex_);
  Kind kind{worker, sample.model, sample.plan, sample.stage};
  if (waiting_.size() >= kMostKinds && !waiting_.contains(kind)) std::get<2>(kind).clear();
  absl::Duration& waiting = waiting_[kind];
  waiting += std::max(sample.duration, absl::ZeroDuration());
  return sample.kernels.empty() ? absl::ZeroDuration()
                                : std::exchange(waiting, absl::ZeroDuration());
}

std::vector<OperatorSeconds> KernelSeconds::Take(const std::string& worker,
                                                 const StepSample& sample) {
  const absl::Duration all = TakeWaiting(worker, sample);
  double sum = 0;
  for (const kernels::VariantTime& time : sample.kernels) {
    sum += static_cast<double>(time.total_ns) * 1e-9;
  }
  // A device may say more of its operators than the host of the piece.
  const double took = std::max(absl::ToDoubleSeconds(sample.duration), sum);
  if (all <= absl::ZeroDuration() || took <= 0) return {};
  const double scale = absl::ToDoubleSeconds(all) / took;
  std::vector<OperatorSeconds> seconds;
  for (const kernels::VariantTime& time : sample.kernels) {
    seconds.push_back({time.op, time.variant, scale * static_cast<double>(time.total_ns) * 1e-9});
  }
  seconds.push_back({"gaps", "", scale * (took - sum)});
  return seconds;
}

}  // namespace reel::front
