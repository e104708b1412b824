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

namespace {

// Longer than any limit that is measured with it. Each pause lasts kLate, so the list is bounded.
constexpr absl::Duration kRemembered = absl::Hours(1);

}  // namespace

std::optional<absl::Duration> Pauses::Tick(SteadyTime now) {
  const SteadyTime last = last_.value_or(now);
  last_ = now;
  if (Between(last, now) < kLate) return std::nullopt;
  while (!pauses_.empty() && Between(pauses_.front().to, now) > kRemembered) pauses_.pop_front();
  pauses_.push_back({last, now});
  return Between(last, now);
}

absl::Duration Pauses::Awake(SteadyTime from, SteadyTime to) const {
  absl::Duration awake = Between(from, to);
  for (const Pause& pause : pauses_) {
    const absl::Duration overlap = Between(std::max(from, pause.from), std::min(to, pause.to));
    awake -= std::max(overlap, absl::ZeroDuration());
  }
  return std::max(awake, absl::ZeroDuration());
}

}  // namespace reel::front
