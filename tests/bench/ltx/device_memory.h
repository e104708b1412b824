// SPDX-License-Identifier: Apache-2.0
// A run's GPU memory, as libtorch's allocator counts it: tensors in use, and what it holds from
// the driver.
#pragma once

#include <cstdint>

namespace reel::bench {

struct DeviceMemory {
  int64_t used_bytes = 0, held_bytes = 0;
};

// Peaks since the last reset; nothing on a CPU (`device` < 0).
void ResetPeaks(int device);
DeviceMemory Peaks(int device);

}  // namespace reel::bench
