// SPDX-License-Identifier: Apache-2.0
// The inbox of one thread: others put, it takes all that is there. Each item has a weight, and a
// poster that may wait is held while the inbox weighs too much.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"

namespace reel::front {

// Thread-safe.
template <typename T>
class Inbox {
 public:
  explicit Inbox(int64_t max_weight = std::numeric_limits<int64_t>::max())
      : max_weight_(max_weight) {}

  // Never blocks. False: closed, and the item is dropped.
  bool Put(T item) {
    MutexLock lock(mutex_);
    if (closed_) return false;
    items_.push_back(std::move(item));
    taker_.NotifyOne();
    return true;
  }

  // Waits while the inbox is full; an item heavier than the whole goes in alone.
  bool PutWhenRoom(T item, int64_t weight) {
    MutexLock lock(mutex_);
    while (!closed_ && weight_ > 0 && weight_ + weight > max_weight_) room_.Wait(mutex_);
    if (closed_) return false;
    weight_ += weight;
    items_.push_back(std::move(item));
    taker_.NotifyOne();
    return true;
  }

  // The taker is done with so much weight.
  void Release(int64_t weight) {
    MutexLock lock(mutex_);
    weight_ -= weight;
    room_.NotifyAll();
  }

  // Fills `items` with all that is there, after at most `timeout` with nothing. False once it is
  // closed and empty.
  bool TakeAll(std::vector<T>& items, absl::Duration timeout = absl::InfiniteDuration()) {
    items.clear();
    MutexLock lock(mutex_);
    if (items_.empty() && !closed_) {
      if (timeout == absl::InfiniteDuration()) {
        while (items_.empty() && !closed_) taker_.Wait(mutex_);
      } else if (timeout > absl::ZeroDuration()) {
        taker_.WaitFor(mutex_, timeout);
      }
    }
    items_.swap(items);
    return !items.empty() || !closed_;
  }

  void Close() {
    MutexLock lock(mutex_);
    closed_ = true;
    taker_.NotifyAll();
    room_.NotifyAll();
  }

 private:
  const int64_t max_weight_;
  Mutex mutex_;
  CondVar taker_, room_;
  std::vector<T> items_ ABSL_GUARDED_BY(mutex_);
  int64_t weight_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

// Waits for one answer of another thread, for whoever has nothing else to do: at the start.
// Blocks. `call` is given what takes the answer, which must come.
template <typename Answer, typename Call>
Answer WaitForAnswer(Call call) {
  Mutex mutex;
  CondVar answered;
  std::optional<Answer> answer;
  call([&](Answer value) {
    MutexLock lock(mutex);
    answer = std::move(value);
    answered.NotifyAll();
  });
  MutexLock lock(mutex);
  while (!answer) answered.Wait(mutex);
  return *std::move(answer);
}

}  // namespace reel::front
