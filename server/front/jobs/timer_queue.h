// SPDX-License-Identifier: Apache-2.0
// Timers, on the monotonic clock.
#pragma once

#include <chrono>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace reel::front {

// Two clocks: wall time for people, monotonic time for timeouts. Setting the wall clock changes no
// timeout.
// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Wall() const = 0;
  // Since an arbitrary instant; never decreases.
  virtual absl::Duration Monotonic() const = 0;
};

class SystemClock final : public Clock {
 public:
  absl::Time Wall() const override { return absl::Now(); }
  absl::Duration Monotonic() const override {
    return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
  }
};

// Of two that are due together the earlier kind comes first.
enum class TimerKind {
  kCloseAdmission,  // of a drain
  kCutDrain,
  kDeadline,  // of a job
  kTick,
};

struct Timer {
  TimerKind kind = TimerKind::kTick;
  std::string job;  // empty where it is not a job's
  auto operator<=>(const Timer&) const = default;
};

// Confined to one thread.
class TimerQueue {
 public:
  // Replaces the one that is set.
  void Set(const Timer& timer, absl::Duration due) {
    Clear(timer);
    due_[timer] = due;
    order_.emplace(due, timer);
  }
  void Clear(const Timer& timer) {
    const auto found = due_.find(timer);
    if (found == due_.end()) return;
    order_.erase({found->second, timer});
    due_.erase(found);
  }
  std::optional<absl::Duration> next() const {
    if (order_.empty()) return std::nullopt;
    return order_.begin()->first;
  }
  // Takes out all that is due, in order.
  std::vector<Timer> Take(absl::Duration now) {
    std::vector<Timer> timers;
    while (!order_.empty() && order_.begin()->first <= now) {
      timers.push_back(order_.begin()->second);
      due_.erase(order_.begin()->second);
      order_.erase(order_.begin());
    }
    return timers;
  }

 private:
  std::map<Timer, absl::Duration> due_;
  std::set<std::pair<absl::Duration, Timer>> order_;
};

}  // namespace reel::front
