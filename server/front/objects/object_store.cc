// SPDX-License-Identifier: Apache-2.0
#include "server/front/objects/object_store.h"

#include <algorithm>
#include <utility>

namespace reel::front {
namespace {

constexpr size_t kMostKey = 512;

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '~' || c == '-' || c == '/';
}

}  // namespace

bool IsLegalKey(std::string_view key) {
  if (key.empty() || key.size() > kMostKey || key.back() == '/') return false;
  if (!std::all_of(key.begin(), key.end(), IsPlain)) return false;
  // Parts that a server could take for a way out of its folder, or leave out.
  bool at_start = true;
  for (const char c : key) {
    if (at_start && (c == '/' || c == '.')) return false;
    at_start = c == '/';
  }
  return true;
}

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
