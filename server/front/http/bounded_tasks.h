// SPDX-License-Identifier: Apache-2.0
// A few threads and a short queue; whoever adds to a full one waits.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "kernels/base/mutex.h"

namespace reel::front {

// Thread-safe.
class BoundedTasks {
 public:
  BoundedTasks(int threads, size_t max_waiting);
  ~BoundedTasks();
  BoundedTasks(const BoundedTasks&) = delete;
  BoundedTasks& operator=(const BoundedTasks&) = delete;

  // Waits for room. After Stop a task is run at once on the caller's thread, so that what it owns
  // is released as always.
  void Add(std::function<void()> task);
  // Runs what waits, then ends the threads. Once or more.
  void Stop();

 private:
  void Run();

  const size_t max_waiting_;
  Mutex mutex_;
  CondVar added_, taken_;
  std::deque<std::function<void()>> waiting_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace reel::front
