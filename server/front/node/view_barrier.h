// SPDX-License-Identifier: Apache-2.0
// Makes a call wait until the view has everything that was in the log when the call arrived. So a
// video is found that another server created a moment ago.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/fleet/fleet_view.h"
#include "server/front/fleet/log_port.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/objects/object_store.h"

namespace reel::front {

// Collects changes of the view until the next Take.
// Thread-safe.
class ViewChanges final : public ViewListener {
 public:
  // `wake` is called on the tail's thread, once before each Take.
  explicit ViewChanges(std::function<void()> wake) : wake_(std::move(wake)) {}

  struct Taken {
    bool anew = false;  // discard everything known before
    std::map<FleetState::Key, ViewChange> videos;
    std::vector<ViewBill> bills;
  };
  Taken Take();

  void OnFolded(const std::map<FleetState::Key, ViewChange>& changes,
                const std::vector<ViewBill>& bills) override;
  void OnAnew() override;
  void OnCaughtUp() override;

 private:
  // Returns true if nobody was woken yet.
  bool Note() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !std::exchange(told_, true); }

  const std::function<void()> wake_;
  Mutex mutex_;
  Taken taken_ ABSL_GUARDED_BY(mutex_);
  bool told_ ABSL_GUARDED_BY(mutex_) = false;
};

// Callers that wait for a condition on the view.
// Confined to one thread.
class FoldWaiters {
 public:
  // `done` gets whether `reached` returned true before the monotonic time `end`.
  void Add(std::function<bool()> reached, absl::Duration end, absl::AnyInvocable<void(bool)> done) {
    waiting_.push_back({std::move(reached), end, std::move(done)});
  }
  // Called on every tick and after every change of the view.
  void Settle(absl::Duration now);
  bool empty() const { return waiting_.empty(); }

 private:
  struct Waiter {
    std::function<bool()> reached;
    absl::Duration end;
    absl::AnyInvocable<void(bool)> done;
  };
  std::vector<Waiter> waiting_;
};

// One query to the broker serves all calls that arrived before it, and queries keep a minimum
// distance: a flood of calls does not become a flood of queries. Confined to the node's thread.
// Arguments outlive it.
class ViewBarrier {
 public:
  ViewBarrier(LogPort& port, TaskPool& looks, const OwnThread& thread, const Clock& clock)
      : port_(port), looks_(looks), thread_(thread), clock_(clock) {}

  // OK: the view is as new as the call. FLEET_UNAVAILABLE: it is not after two seconds, or the log
  // does not answer.
  using Done = absl::AnyInvocable<void(const absl::Status&)>;
  void Wait(Done done);
  // The view has reached `position`, or time has passed. `ready`: the log was read to its end since
  // the start.
  void Settle(bool ready, uint64_t position);

 private:
  // Calls that one query answers.
  struct Batch {
    std::vector<Done> calls;
    uint64_t newest = 0;
    absl::Duration end;
  };
  void Ask();
  void OnNewest(absl::StatusOr<uint64_t> newest);
  static void Answer(std::vector<Done> calls, const absl::Status& status);

  LogPort& port_;
  TaskPool& looks_;  // one thread, for blocking calls to the broker
  const OwnThread& thread_;
  const Clock& clock_;
  std::vector<Done> next_;   // for the next query
  std::vector<Done> asked_;  // for the query in flight
  bool asking_ = false;
  std::vector<Batch> waiting_;
};

}  // namespace reel::front
