// SPDX-License-Identifier: Apache-2.0
// Sorts CUDA errors by what can be done about them.
#pragma once

#include <cstdint>

#include "kernels/dispatch/kernel_variant.h"

namespace reel::kernels {

// Of a cudaError_t other than success.
DeviceErrorKind CudaErrorKind(int32_t error);

}  // namespace reel::kernels
