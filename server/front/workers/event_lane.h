// SPDX-License-Identifier: Apache-2.0
// The thread on which everything that concerns one worker is reported, in order. Who posts is told
// when the lane is full, and when there is room again; it is never blocked.
#pragma once

#include <cstdint>
#include <deque>
#include <thread>

#include "absl/functional/any_invocable.h"
#include "kernels/base/mutex.h"

namespace reel::front {

class EventLane {
 public:
  using Event = absl::AnyInvocable<void()>;

  // `on_room` is called on the lane's thread, once for each time that Post said false, when half of
  // `max_bytes` is free again.
  EventLane(int64_t max_bytes, absl::AnyInvocable<void()> on_room);
  // Ends.
  ~EventLane();

  // Runs what was posted, then ends the thread; later posts are dropped. Not on the lane's thread.
  void End();

  // Thread-safe, always takes the event. False: stop reading until on_room.
  bool Post(Event event, int64_t bytes = 0);

 private:
  struct Item {
    Event event;
    int64_t bytes = 0;
  };
  void Run();

  const int64_t max_bytes_;
  absl::AnyInvocable<void()> on_room_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Item> items_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool full_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace reel::front
