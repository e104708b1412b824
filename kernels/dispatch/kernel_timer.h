// SPDX-License-Identifier: Apache-2.0
// Times operators on sampled steps: device events on a GPU, the clock on a CPU.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_listing.h"

namespace reel::kernels {

// Used by the executing thread alone.
class KernelTimer {
 public:
  virtual ~KernelTimer() = default;
  virtual void Start(std::string_view op, std::string_view variant, DeviceStream stream) = 0;
  virtual void Stop(DeviceStream stream) = 0;
  // Times since the last call; waits for the device.
  virtual std::vector<VariantTime> Take() = 0;
  // Nanoseconds from the first start to the last stop that Take returned, including the gaps; 0:
  // unknown. A device may still be busy when a step is launched, so the host's time of the step
  // says less.
  virtual int64_t TakenSpan() const { return 0; }
};

}  // namespace reel::kernels
