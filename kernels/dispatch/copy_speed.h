// SPDX-License-Identifier: Apache-2.0
// The speed of the link between the host's memory and a device.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

// Copies 256 MiB of page-locked memory to the device three times and returns the median speed in
// bytes per second. Uses buffers of 64 MiB on the host and on the device. INTERNAL if CUDA fails.
absl::StatusOr<int64_t> MeasureCopySpeed(const CudaLibraryTable& library, int device);

}  // namespace reel::kernels
