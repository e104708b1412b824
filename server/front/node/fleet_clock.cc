// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fleet_clock.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace reel::front {

absl::Time FleetClock::Wall() const {
  const MutexLock lock(mutex_);
  return followed_ ? *followed_ + own_.Monotonic() : own_.Wall();
}

void FleetClock::Learn(absl::Time time, absl::Duration asked, absl::Duration answered) {
  // The answer was on its way for an unknown part of the time: a slow one moves nothing that it
  // does not contradict.
  const absl::Time earliest = time - answered;
  const absl::Time latest = time - asked;
  const absl::Duration monotonic = own_.Monotonic();
  const absl::Time own = own_.Wall() - monotonic;
  const MutexLock lock(mutex_);
  told_ = std::clamp(told_.value_or(earliest + (latest - earliest) / 2), earliest, latest);
  const bool jumps = followed_ && absl::AbsDuration(*told_ - *followed_) > most_;
  const bool is_confirmed = absl::AbsDuration(*told_ - own) <= most_;
  if (!jumps || is_confirmed) followed_ = told_;
}

std::optional<absl::Duration> FleetClock::Skew() const {
  const MutexLock lock(mutex_);
  if (!told_) return std::nullopt;
  return own_.Wall() - (*told_ + own_.Monotonic());
}

std::string SkewText(absl::Duration skew, absl::Duration precision) {
  const absl::Duration shown = absl::Trunc(absl::AbsDuration(skew), precision);
  return absl::StrCat("this server's clock is ", absl::FormatDuration(shown),
                      skew < absl::ZeroDuration() ? " behind" : " ahead of", " the brokers'");
}

}  // namespace reel::front
