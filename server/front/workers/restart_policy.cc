// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/restart_policy.h"

#include <algorithm>

namespace reel::front {

RestartPolicy::RestartPolicy(const RestartOptions& options, uint64_t seed)
    : options_(options),
      random_(static_cast<std::minstd_rand::result_type>(seed)),
      next_wait_(options.first_wait) {}

std::optional<absl::Duration> RestartPolicy::AfterLoss(SteadyTime now,
                                                       std::optional<SteadyTime> since,
                                                       bool own_fault) {
  if (own_fault) own_losses_.push_back(now);
  while (!own_losses_.empty() && Between(own_losses_.front(), now) > options_.loss_window) {
    own_losses_.pop_front();
  }
  if (static_cast<int>(own_losses_.size()) >= options_.max_losses) return std::nullopt;

  if (since && Between(*since, now) >= options_.healthy_after) next_wait_ = options_.first_wait;
  const absl::Duration wait = next_wait_;
  next_wait_ = std::min(2 * next_wait_, options_.longest_wait);
  std::uniform_real_distribution<double> spread(1 - options_.jitter, 1 + options_.jitter);
  return std::min(wait * spread(random_), options_.longest_wait);
}

void RestartPolicy::Forget() {
  own_losses_.clear();
  next_wait_ = options_.first_wait;
}

}  // namespace reel::front
