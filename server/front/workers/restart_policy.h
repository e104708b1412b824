// SPDX-License-Identifier: Apache-2.0
// The time of the supervisor: when a lost worker starts again or is taken out instead, and when
// this process did not run. Pure: the caller brings the time.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <random>

#include "absl/time/time.h"

namespace reel::front {

// Never the wall clock: a clock that is set must not kill a worker.
using SteadyTime = std::chrono::steady_clock::time_point;

inline absl::Duration Between(SteadyTime from, SteadyTime to) {
  return absl::FromChrono(to - from);
}

struct RestartOptions {
  absl::Duration first_wait = absl::Seconds(1);  // doubled by each loss in a row
  absl::Duration longest_wait = absl::Seconds(30);
  double jitter = 0.2;  // share of the wait, up or down
  absl::Duration healthy_after =
      absl::Seconds(60);  // in service that long: the next wait is the first
  int max_losses = 5;     // that many of its own making within `loss_window` take it out
  absl::Duration loss_window = absl::Minutes(10);
};

// When a lost worker starts again, and when it is taken out instead. Confined to the supervisor's
// thread.
class RestartPolicy {
 public:
  RestartPolicy(const RestartOptions& options, uint64_t seed);

  // A loss at `now`, of a worker that was in service since `since` (nullopt: never). `own_fault`:
  // its device or its code, not a signal from outside. Returns the wait before the next start;
  // nullopt: it is out.
  std::optional<absl::Duration> AfterLoss(SteadyTime now, std::optional<SteadyTime> since,
                                          bool own_fault);
  // As if it had never been lost.
  void Forget();

 private:
  RestartOptions options_;
  std::minstd_rand random_;
  absl::Duration next_wait_;
  std::deque<SteadyTime> own_losses_;  // within the window
};

// Times in which this process did not run: it was stopped, or its machine or its container was.
// Silence of a worker in such a time says nothing about the worker.
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
