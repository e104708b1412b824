// SPDX-License-Identifier: Apache-2.0
// The copy kernel that kernel_gpu_bench compares with, beside cudaMemcpyAsync.
#pragma once

#include <cstdint>

namespace reel::kernels {

// A plain copy by 16-byte loads and stores, as the ceiling of kernels that read and write once;
// both sides aligned to 16 bytes, `bytes` a multiple of 16. Returns a cudaError_t.
int32_t LaunchCopy(void* to, const void* from, int64_t bytes, void* stream);

}  // namespace reel::kernels
