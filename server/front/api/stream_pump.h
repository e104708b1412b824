// SPDX-License-Identifier: Apache-2.0
// Threads that move streams on when their job wakes them, so that the dispatcher, which wakes them,
// neither reads files nor writes to sockets. They also watch what no event tells of: writes that
// stall, callers whose token is gone.
#pragma once

#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"

namespace reel::front {

// Something that can be moved on. Both calls come on the pump's threads and must be short.
class Pumped {
 public:
  virtual ~Pumped() = default;
  virtual void Pump() = 0;
  // A few times per stall limit.
  virtual void Check() = 0;
  // The server goes down: end as soon as there is nothing to send.
  virtual void Close() = 0;
};

// Thread-safe. Must outlive every call of Post; streams are held only while they wait here, and
// weakly for the watch.
class StreamPump {
 public:
  // Checks streams every `period`.
  StreamPump(int threads, absl::Duration period);
  ~StreamPump();
  StreamPump(const StreamPump&) = delete;
  StreamPump& operator=(const StreamPump&) = delete;

  // Pump is called soon. Not deduplicated: that is the stream's own matter.
  void Post(std::shared_ptr<Pumped> stream);
  // Check is called until it is gone.
  void Watch(std::weak_ptr<Pumped> stream);
  // Close of every stream that is watched, on the caller's thread; and of those that come later.
  void CloseAll();

 private:
  void RunPump();
  void RunWatch();
  std::vector<std::shared_ptr<Pumped>> Alive() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t pumps_;
  const absl::Duration period_;
  Mutex mutex_;
  CondVar posted_, stop_;
  std::deque<std::shared_ptr<Pumped>> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<Pumped>> watched_ ABSL_GUARDED_BY(mutex_);
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace reel::front
