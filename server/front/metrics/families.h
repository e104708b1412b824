// SPDX-License-Identifier: Apache-2.0
// Families of metrics whose label values are bounded, and the edges of histograms.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "kernels/base/mutex.h"

namespace reel::front {

inline auto& CounterFamily(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}
inline auto& GaugeFamily(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}
inline auto& HistogramFamily(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

// A family whose label values come from outside. Only so many sets of values are kept; the rest are
// folded into one whose values are all "other", and counted.
// Thread-safe. T is a metric of prometheus-cpp; `arguments` of Get are those of its constructor.
template <typename T>
class CappedFamily {
 public:
  // `dropped` counts by the label "family".
  CappedFamily(prometheus::Family<T>& family, size_t max_series,
               prometheus::Family<prometheus::Counter>& dropped)
      : family_(family),
        max_series_(max_series),
        dropped_(dropped.Add({{"family", family.GetName()}})) {}

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

// Seconds, but for the ratios, decibels, rows and jobs.
namespace buckets {

using Edges = std::vector<double>;

// A whole video.
inline Edges Video() {
  return {0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1200};
}
inline Edges Stage() { return {0.005, 0.02, 0.05, 0.1, 0.5, 1, 5, 20, 60, 300}; }
inline Edges Call() { return {0.005, 0.05, 0.5, 5, 60, 600}; }
inline Edges Step() {
  return {0.002, 0.005, 0.01,  0.015, 0.02, 0.025, 0.03, 0.035,
          0.04,  0.05,  0.075, 0.1,   0.15, 0.25,  0.5,  1};
}
// Things that should take no time.
inline Edges Event() { return {0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5}; }
inline Edges Kernel() { return {2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 3e-3, 1e-2}; }
inline Edges Ratio() { return {0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1}; }
// Of a picture against another one.
inline Edges Decibels() { return {20, 25, 30, 35, 40, 45, 50, 60, 70}; }
inline Edges Rows() { return {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}; }
inline Edges Jobs() { return {1, 2, 3, 4, 6, 8, 12, 16}; }

}  // namespace buckets

}  // namespace reel::front
