// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/device_timer.h"

#include <map>
#include <utility>

namespace reel::kernels {

DeviceTimer::~DeviceTimer() {
  for (const Span& span : spans_) {
    library_.event_destroy(span.start);
    library_.event_destroy(span.end);
  }
}

bool DeviceTimer::GrowTo(size_t spans) {
  if (spans <= spans_.size()) return true;
  Span made;
  if (spans > kMostCalls || library_.event_create(device_, &made.start) != 0) return false;
  if (library_.event_create(device_, &made.end) != 0) {
    library_.event_destroy(made.start);
    return false;
  }
  spans_.push_back(std::move(made));
  return true;
}

void DeviceTimer::Start(std::string_view op, std::string_view variant, DeviceStream stream) {
  running_ = GrowTo(used_ + 1);
  if (!running_) return;
  Span& span = spans_[used_++];
  span.op = op;
  span.variant = variant;
  span.whole = false;
  running_ = library_.event_record(span.start, stream.handle) == 0;
}

void DeviceTimer::Stop(DeviceStream stream) {
  if (!running_) return;
  Span& span = spans_[used_ - 1];
  span.whole = library_.event_record(span.end, stream.handle) == 0;
  running_ = false;
}

std::vector<VariantTime> DeviceTimer::Take() {
  std::map<std::pair<std::string_view, std::string_view>, VariantTime> times;
  const Span *first = nullptr, *last = nullptr;
  for (size_t i = 0; i < used_; ++i) {
    const Span& span = spans_[i];
    int64_t nanoseconds = 0;
    if (!span.whole || library_.nanoseconds_between(span.start, span.end, &nanoseconds) != 0) {
      continue;
    }
    VariantTime& time = times[{span.op, span.variant}];
    time.op = span.op;
    time.variant = span.variant;
    time.total_ns += nanoseconds;
    ++time.calls;
    if (first == nullptr) first = &span;
    last = &span;
  }
  taken_span_ns_ = 0;
  if (first != nullptr &&
      library_.nanoseconds_between(first->start, last->end, &taken_span_ns_) != 0) {
    taken_span_ns_ = 0;
  }
  used_ = 0;
  running_ = false;
  std::vector<VariantTime> taken;
  taken.reserve(times.size());
  for (auto& [key, time] : times) taken.push_back(std::move(time));
  return taken;
}

}  // namespace reel::kernels
