// SPDX-License-Identifier: Apache-2.0
// A family of metrics whose label values come from outside. Only so many sets of values are kept;
// the rest are folded into one whose values are all "other", and counted.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>

#include <cstddef>
#include <set>
#include <utility>

#include "kernels/base/mutex.h"

namespace reel::front {

// Thread-safe. T is a metric of prometheus-cpp; `arguments` of Get are those of its constructor.
template <typename T>
class CappedFamily {
 public:
  CappedFamily(prometheus::Family<T>& family, size_t max_series, prometheus::Counter& dropped)
      : family_(family), max_series_(max_series), dropped_(dropped) {}

  template <typename... Arguments>
  T& Get(const prometheus::Labels& labels, Arguments&&... arguments) {
    if (Admit(labels)) return family_.Add(labels, std::forward<Arguments>(arguments)...);
    prometheus::Labels folded = labels;
    for (auto& [name, value] : folded) value = "other";
    return family_.Add(folded, std::forward<Arguments>(arguments)...);
  }

 private:
  bool Admit(const prometheus::Labels& labels) {
    MutexLock lock(mutex_);
    if (known_.contains(labels)) return true;
    if (known_.size() < max_series_) return known_.insert(labels).second;
    dropped_.Increment();
    return false;
  }

  prometheus::Family<T>& family_;
  const size_t max_series_;
  prometheus::Counter& dropped_;
  Mutex mutex_;
  std::set<prometheus::Labels> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
