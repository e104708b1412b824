// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/pauses.h"

#include <algorithm>

namespace reel::front {
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
