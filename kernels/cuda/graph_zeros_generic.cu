// SPDX-License-Identifier: Apache-2.0
// Zeroes a few bytes with one block: words where they are aligned.
#include <cstdint>

#include "kernels/cuda/graph_zeros_launch.h"

namespace reel::kernels {
namespace {

__global__ void __launch_bounds__(kZeroThreads) Zero(unsigned char* first, unsigned bytes) {
  if ((reinterpret_cast<uintptr_t>(first) | bytes) % 4 == 0) {
    auto* const words = reinterpret_cast<unsigned*>(first);
    for (unsigned i = threadIdx.x; i < bytes / 4; i += kZeroThreads) words[i] = 0;
    return;
  }
  for (unsigned i = threadIdx.x; i < bytes; i += kZeroThreads) first[i] = 0;
}

}  // namespace

const void* ZeroKernel() { return reinterpret_cast<const void*>(&Zero); }

}  // namespace reel::kernels
