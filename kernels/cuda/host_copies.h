// SPDX-License-Identifier: Apache-2.0
// Times copies from page-locked host memory to a device. Part of libreel_cuda.so.
#pragma once

#include <cstdint>

namespace reel::kernels {

// CudaLibraryTable::time_copies.
int32_t TimeCopies(int32_t device, int64_t bytes, int32_t count, int64_t* nanoseconds);

}  // namespace reel::kernels
