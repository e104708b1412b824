// SPDX-License-Identifier: Apache-2.0
// The fleet's time: the brokers' clock, extrapolated by this server's monotonic clock. Servers with
// wrong clocks still agree on deadlines and expiry.
#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/fleet/log_port.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/node/fitness.h"
#include "server/front/node/node_options.h"
#include "server/front/objects/object_store.h"

namespace reel::front {

// Thread-safe.
class FleetClock final : public Clock {
 public:
  // `own` outlives it. Follows a jump of the brokers' clock above `most` only if this server's
  // clock agrees: the new leader's clock may be the wrong one.
  FleetClock(const Clock& own, absl::Duration most) : own_(own), most_(most) {}

  // Returns this server's time until the brokers' is known.
  absl::Time Wall() const override;
  absl::Duration Monotonic() const override { return own_.Monotonic(); }

  // A broker reported `time` between the readings `asked` and `answered` of Monotonic.
  void Learn(absl::Time time, absl::Duration asked, absl::Duration answered);
  // How far this server's clock is ahead of the brokers'; nullopt if theirs is not known.
  std::optional<absl::Duration> Skew() const;

 private:
  // The brokers' time when the monotonic clock was at zero.
  using Origin = std::optional<absl::Time>;
  const Clock& own_;
  const absl::Duration most_;
  mutable Mutex mutex_;
  Origin followed_ ABSL_GUARDED_BY(mutex_), told_ ABSL_GUARDED_BY(mutex_);
};

// "this server's clock is 6.2s ahead of the brokers'", shown in whole units of `precision`.
std::string SkewText(absl::Duration skew, absl::Duration precision);

// Asks the brokers for their time, and marks this node unfit if its own clock is too far off.
// Confined to the node's thread. Arguments outlive it.
class ClockWatch {
 public:
  // Asks at once and blocks for the answer, so that no decision uses an unchecked clock.
  ClockWatch(LogPort& port, TaskPool& looks, const OwnThread& thread, FleetClock& clock,
             Fitness& fitness, const NodeOptions& options);

  // A second has passed.
  void Tick(absl::Duration now);
  // Whether this server's clock is near the brokers', or theirs is not known.
  bool agrees() const { return agrees_; }

 private:
  void OnAsked(const absl::Status& status);
  void Judge();

  LogPort& port_;
  TaskPool& looks_;  // for blocking calls to the broker
  const OwnThread& thread_;
  FleetClock& clock_;
  Fitness& fitness_;
  const NodeOptions& options_;
  absl::Status asked_;  // the last answer
  absl::Duration next_ = -absl::InfiniteDuration();
  bool asking_ = false, agrees_ = true;
};

}  // namespace reel::front
