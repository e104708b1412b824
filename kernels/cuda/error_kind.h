// SPDX-License-Identifier: Apache-2.0
// Sorts CUDA errors by the remedy that they need.
#pragma once

#include <cstdint>

#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

// The kind of a cudaError_t other than success.
DeviceErrorKind CudaErrorKind(int32_t error);

}  // namespace reel::kernels
