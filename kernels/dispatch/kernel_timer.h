// SPDX-License-Identifier: Apache-2.0
// Times operators on sampled steps: device events on a GPU, the clock on a CPU.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_listing.h"

namespace reel::kernels {

// Confined to the thread that executes.
class KernelTimer {
 public:
  virtual ~KernelTimer() = default;
  virtual void Start(std::string_view op, std::string_view variant, DeviceStream stream) = 0;
  virtual void Stop(DeviceStream stream) = 0;
  // Of the step since the last call; waits for the device.
  virtual std::vector<VariantTime> Take() = 0;
  // From the first start to the last stop of what Take has told, in nanoseconds, with what lay
  // between; 0: not known. A device may still be at something else when a step is asked of it, so
  // that the host's time of the step tells less.
  virtual int64_t TakenSpan() const { return 0; }
};

}  // namespace reel::kernels
