// SPDX-License-Identifier: Apache-2.0
#include "server/front/objects/task_pool.h"

#include <utility>

namespace reel::front {

TaskPool::TaskPool(int threads, size_t most_waiting) : most_waiting_(most_waiting) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

TaskPool::~TaskPool() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

bool TaskPool::Put(Task task) {
  const MutexLock lock(mutex_);
  if (tasks_.size() >= most_waiting_) return false;
  tasks_.push_back(std::move(task));
  changed_.NotifyOne();
  return true;
}

void TaskPool::Run() {
  for (;;) {
    Task task;
    {
      const MutexLock lock(mutex_);
      while (tasks_.empty() && !stopping_) changed_.Wait(mutex_);
      if (stopping_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace reel::front
