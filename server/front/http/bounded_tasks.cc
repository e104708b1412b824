// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/bounded_tasks.h"

#include <utility>

namespace reel::front {

BoundedTasks::BoundedTasks(int threads, size_t max_waiting) : max_waiting_(max_waiting) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

BoundedTasks::~BoundedTasks() { Stop(); }

void BoundedTasks::Add(std::function<void()> task) {
  {
    MutexLock lock(mutex_);
    while (waiting_.size() >= max_waiting_ && !stopping_) taken_.Wait(mutex_);
    if (!stopping_) {
      waiting_.push_back(std::move(task));
      added_.NotifyOne();
      return;
    }
  }
  task();
}

void BoundedTasks::Stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    added_.NotifyAll();
    taken_.NotifyAll();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void BoundedTasks::Run() {
  for (;;) {
    std::function<void()> task;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !stopping_) added_.Wait(mutex_);
      if (waiting_.empty()) return;
      task = std::move(waiting_.front());
      waiting_.pop_front();
      taken_.NotifyOne();
    }
    task();
  }
}

}  // namespace reel::front
