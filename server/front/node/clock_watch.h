// SPDX-License-Identifier: Apache-2.0
// Asks the brokers for their time, and says when this server's own clock is too far from it.
#pragma once

#include "absl/time/time.h"
#include "server/front/fleet/log_port.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/node/fitness.h"
#include "server/front/node/fleet_clock.h"
#include "server/front/node/node_options.h"
#include "server/front/objects/task_pool.h"

namespace reel::front {

// Confined to the node's thread.
class ClockWatch {
 public:
  // What it works with; all of it outlives it.
  struct Parts {
    LogPort& port;
    TaskPool& looks;  // waits for the broker
    const OwnThread& thread;
    FleetClock& clock;
    Fitness& fitness;
    const NodeOptions& options;
  };
  // Asks at once, and waits for the answer: nothing is judged by a clock that nobody has looked at.
  explicit ClockWatch(const Parts& parts);

  // A second has passed.
  void Tick(absl::Duration now);
  // This server's clock is near the brokers', or they tell none.
  bool agrees() const { return agrees_; }

 private:
  void OnAsked(const absl::Status& status);
  void Judge();

  const Parts parts_;
  absl::Status asked_;  // the last answer
  absl::Duration next_ = -absl::InfiniteDuration();
  bool asking_ = false, agrees_ = true;
};

}  // namespace reel::front
