// SPDX-License-Identifier: Apache-2.0
// Recognises the devices that tables of algorithms and plans were measured on.
#pragma once

#include <ATen/cuda/CUDAContextLight.h>

#include <cstdint>
#include <limits>

namespace reel::model {

// The upper bound of an open range of sizes.
inline constexpr int64_t kAnyMore = std::numeric_limits<int64_t>::max();

// Whether the current device is an H100 or H200 on their boards (SXM). How tiles fill a device
// depends on its number of multiprocessors.
inline bool IsMeasuredDevice() {
  const cudaDeviceProp* const device = at::cuda::getCurrentDeviceProperties();
  return device->major == 9 && device->minor == 0 && device->multiProcessorCount == 132;
}

}  // namespace reel::model
