// SPDX-License-Identifier: Apache-2.0
// Counts the bytes that libtorch holds in a process.
#pragma once

#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <map>

#include "kernels/base/mutex.h"

namespace reel::model {

// libtorch's own, with a count of the bytes that are out. One for the whole process, and never
// taken away: tensors that it made may live to its end.
class CountingAllocator final : public c10::Allocator {
 public:
  static CountingAllocator& Get() {
    static CountingAllocator& instance = *new CountingAllocator();
    return instance;
  }

  c10::DataPtr allocate(size_t size) override {
    void* const data = inner_->raw_allocate(size);
    if (data == nullptr) return {nullptr, nullptr, &Free, at::kCPU};  // of an empty tensor
    MutexLock lock(mutex_);
    sizes_[data] = static_cast<int64_t>(size);
    held_ += static_cast<int64_t>(size);
    peak_ = std::max(peak_, held_);
    return {data, data, &Free, at::kCPU};
  }
  void copy_data(void* to, const void* from, size_t size) const override {
    inner_->copy_data(to, from, size);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Free; }

  // The most that `run` holds at once beyond what is held when it begins.
  template <typename Run>
  int64_t PeakOf(Run&& run) {
    const int64_t before = Reset();
    run();
    MutexLock lock(mutex_);
    return peak_ - before;
  }

 private:
  CountingAllocator() : inner_(c10::GetCPUAllocator()) { c10::SetCPUAllocator(this, 100); }

  int64_t Reset() {
    MutexLock lock(mutex_);
    return peak_ = held_;
  }

  static void Free(void* data) {
    if (data == nullptr) return;
    CountingAllocator& counting = Get();
    {
      MutexLock lock(counting.mutex_);
      const auto found = counting.sizes_.find(data);
      counting.held_ -= found->second;
      counting.sizes_.erase(found);
    }
    counting.inner_->raw_deallocate(data);
  }

  c10::Allocator* const inner_;
  Mutex mutex_;
  std::map<void*, int64_t> sizes_ ABSL_GUARDED_BY(mutex_);
  int64_t held_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t peak_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace reel::model
