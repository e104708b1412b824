// SPDX-License-Identifier: Apache-2.0
// Threads for what has to wait for an object store, so that none that decides does.
#pragma once

#include <deque>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "kernels/base/mutex.h"

namespace reel::front {

// Thread-safe.
class TaskPool {
 public:
  using Task = absl::AnyInvocable<void()>;
  // `most_waiting`: of tasks that no thread has begun.
  TaskPool(int threads, size_t most_waiting);
  // Waits for those that run; those that wait are dropped.
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  // In order. False: too many wait, and it was not taken.
  bool Put(Task task);

 private:
  void Run();

  const size_t most_waiting_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace reel::front
