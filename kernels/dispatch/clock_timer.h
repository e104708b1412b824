// SPDX-License-Identifier: Apache-2.0
// Times operators on a CPU, where a call has ended when it returns.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/dispatch/kernel_timer.h"

namespace reel::kernels {

// Used by the executing thread alone.
class ClockTimer : public KernelTimer {
 public:
  void Start(std::string_view op, std::string_view variant, DeviceStream stream) override;
  void Stop(DeviceStream stream) override;
  std::vector<VariantTime> Take() override;
  int64_t TakenSpan() const override { return taken_span_ns_; }

 private:
  std::map<std::pair<std::string, std::string>, VariantTime> times_;
  VariantTime* running_ = nullptr;  // between Start and Stop; map nodes do not move
  int64_t started_ns_ = 0;
  int64_t first_ns_ = 0, last_ns_ = 0;  // starts and stops since the last Take; 0: none
  int64_t taken_span_ns_ = 0;
};

}  // namespace reel::kernels
