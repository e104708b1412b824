// SPDX-License-Identifier: Apache-2.0
// Ends a blocking call from another thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

#include "absl/time/time.h"

namespace reel::client {

// Thread-safe. Once stopped, it stays stopped.
class StopSignal {
 public:
  // Ends the running call and every pause. From any thread, any number of times.
  void Stop();
  bool stopped() const;

  // True after the whole duration; false as soon as Stop() is called.
  bool Sleep(absl::Duration duration);

  // While it lives, Stop() runs `cancel`, at once if it was called before. `cancel` must not block
  // and must not use this signal. One at a time.
  class Scope {
   public:
    Scope(StopSignal& signal, std::function<void()> cancel);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    StopSignal& signal_;
  };

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;  // guarded by mutex_
  std::function<void()>
      cancel_;  // guarded by mutex_; runs while it is held, so that a Scope's end waits
};

}  // namespace reel::client
