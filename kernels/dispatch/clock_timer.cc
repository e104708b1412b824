// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/clock_timer.h"

#include <chrono>

namespace reel::kernels {
namespace {

int64_t SteadyNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void ClockTimer::Start(std::string_view op, std::string_view variant, DeviceStream) {
  VariantTime& time = times_[{std::string(op), std::string(variant)}];
  time.op = op;
  time.variant = variant;
  running_ = &time;
  started_ns_ = SteadyNanoseconds();
  if (first_ns_ == 0) first_ns_ = started_ns_;
}

void ClockTimer::Stop(DeviceStream) {
  if (running_ == nullptr) return;
  last_ns_ = SteadyNanoseconds();
  running_->total_ns += last_ns_ - started_ns_;
  ++running_->calls;
  running_ = nullptr;
}

std::vector<VariantTime> ClockTimer::Take() {
  std::vector<VariantTime> taken;
  for (auto& [key, time] : times_) taken.push_back(std::move(time));
  times_.clear();
  taken_span_ns_ = last_ns_ - first_ns_;
  first_ns_ = last_ns_ = 0;
  running_ = nullptr;
  return taken;
}

}  // namespace reel::kernels
