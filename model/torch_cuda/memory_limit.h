// SPDX-License-Identifier: Apache-2.0
// Bounds what libtorch's allocator takes of a device. A function of libreel_torch_cuda.so.
#pragma once

#include <cstdint>

namespace reel::model {

// More bytes than the device has: no bound. Throws what libtorch throws.
using MemoryLimitEntry = void (*)(int device, int64_t bytes);
inline constexpr char kMemoryLimitEntry[] = "reel_limit_memory";

}  // namespace reel::model
