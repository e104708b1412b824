// SPDX-License-Identifier: Apache-2.0
// Finds the same of every piece: one launch of one operator, of a microsecond.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/dispatch/kernel_timer.h"

namespace reel::worker {

class FakeTimer : public kernels::KernelTimer {
 public:
  void Start(std::string_view, std::string_view, kernels::DeviceStream) override {}
  void Stop(kernels::DeviceStream) override {}
  std::vector<kernels::VariantTime> Take() override { return {{"rms_norm", "loops", 1, 1000}}; }
};

}  // namespace reel::worker
