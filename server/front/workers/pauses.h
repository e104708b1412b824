// SPDX-License-Identifier: Apache-2.0
// Times in which this process did not run: it was stopped, or its machine or its container was.
// Silence of a worker in such a time says nothing about the worker. Pure: the caller brings the
// time.
#pragma once

#include <deque>
#include <optional>

#include "absl/time/time.h"
#include "server/front/workers/restart_policy.h"

namespace reel::front {

// Confined to one thread.
class Pauses {
 public:
  // A tick so late after the one before tells of a pause. Far above what a busy machine delays a
  // thread, and far below the shortest limit that a pause could break.
  static constexpr absl::Duration kLate = absl::Seconds(1);

  // To be called several times within kLate. Returns how long the pause was that has just ended, if
  // there was one.
  std::optional<absl::Duration> Tick(SteadyTime now);

  // How much of the time between the two this process ran; never negative.
  absl::Duration Awake(SteadyTime from, SteadyTime to) const;

 private:
  struct Pause {
    SteadyTime from, to;
  };
  std::optional<SteadyTime> last_;
  std::deque<Pause> pauses_;  // of the last hour, oldest first
};

}  // namespace reel::front
