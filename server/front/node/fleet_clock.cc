// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fleet_clock.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"

namespace reel::front {

absl::Time FleetClock::Wall() const {
  const MutexLock lock(mutex_);
  return followed_ ? *followed_ + own_.Monotonic() : own_.Wall();
}

void FleetClock::Learn(absl::Time time, absl::Duration asked, absl::Duration answered) {
  // How long the answer travelled is unknown, so a slow answer moves the clock only if it
  // contradicts it.
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

namespace {

// Clocks drift by less than a millisecond in this time.
constexpr absl::Duration kBetweenAsks = absl::Seconds(10);

absl::Status Ask(LogPort& port, FleetClock& clock) {
  const absl::Duration asked = clock.Monotonic();
  const absl::StatusOr<absl::Time> time = port.Time();
  if (time.ok()) clock.Learn(*time, asked, clock.Monotonic());
  return time.status();
}

}  // namespace

ClockWatch::ClockWatch(LogPort& port, TaskPool& looks, const OwnThread& thread, FleetClock& clock,
                       Fitness& fitness, const NodeOptions& options)
    : port_(port),
      looks_(looks),
      thread_(thread),
      clock_(clock),
      fitness_(fitness),
      options_(options) {
  asked_ = Ask(port_, clock_);
  Judge();
}

void ClockWatch::Tick(absl::Duration now) {
  Judge();
  if (asking_ || now < next_) return;
  next_ = now + kBetweenAsks;
  auto told = thread_.Here<absl::Status>([this](const absl::Status& status) { OnAsked(status); });
  asking_ = looks_.Put([&port = port_, &clock = clock_, told = std::move(told)]() mutable {
    told(Ask(port, clock));
  });
}

void ClockWatch::OnAsked(const absl::Status& status) {
  asking_ = false;
  asked_ = status;
  if (!status.ok() && !clock_.Skew()) next_ = -absl::InfiniteDuration();
  Judge();
}

void ClockWatch::Judge() {
  const std::optional<absl::Duration> skew = clock_.Skew();
  std::string why;
  if (!skew && !absl::IsUnimplemented(asked_)) {
    why = "the brokers have not told their time yet";
  } else if (skew && absl::AbsDuration(*skew) > options_.max_clock_skew) {
    // Rounded, so that small changes cause no extra heartbeats.
    why = SkewText(*skew, absl::Milliseconds(100));
  }
  agrees_ = why.empty();
  fitness_.Set(Unfit::kClock, why);
}

}  // namespace reel::front
