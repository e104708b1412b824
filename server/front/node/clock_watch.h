// SPDX-License-Identifier: Apache-2.0
// Asks the brokers for their time, and says when this server's own clock is too far from it.
#pragma once

#include "absl/time/time.h"
#include "server/front/fleet/log_port.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/node/fitness.h"
#include "server/front/node/fleet_clock.h"
#include "server/front/node/node_options.h"
#include "server/front/objects/object_store.h"

namespace reel::front {

// Confined to the node's thread. What it is given outlives it.
class ClockWatch {
 public:
  // Asks at once, and waits for the answer: nothing is judged by a clock that nobody has looked at.
  ClockWatch(LogPort& port, TaskPool& looks, const OwnThread& thread, FleetClock& clock,
             Fitness& fitness, const NodeOptions& options);

  // A second has passed.
  void Tick(absl::Duration now);
  // This server's clock is near the brokers', or they tell none.
  bool agrees() const { return agrees_; }

 private:
  void OnAsked(const absl::Status& status);
  void Judge();

  LogPort& port_;
  TaskPool& looks_;  // waits for the broker
  const OwnThread& thread_;
  FleetClock& clock_;
  Fitness& fitness_;
  const NodeOptions& options_;
  absl::Status asked_;  // the last answer
  absl::Duration next_ = -absl::InfiniteDuration();
  bool asking_ = false, agrees_ = true;
};

}  // namespace reel::front
