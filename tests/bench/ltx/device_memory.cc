// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/ltx/device_memory.h"

#include <c10/core/CachingDeviceAllocator.h>

namespace reel::bench {
namespace {

c10::DeviceIndex Index(int device) { return static_cast<c10::DeviceIndex>(device); }

}  // namespace

void ResetPeaks(int device) {
  if (device >= 0) c10::getDeviceAllocator(c10::kCUDA)->resetPeakStats(Index(device));
}

DeviceMemory Peaks(int device) {
  if (device < 0) return {};
  const auto stats = c10::getDeviceAllocator(c10::kCUDA)->getDeviceStats(Index(device));
  return {stats.allocated_bytes[0].peak, stats.reserved_bytes[0].peak};
}

}  // namespace reel::bench
