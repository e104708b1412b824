// SPDX-License-Identifier: Apache-2.0
// The kernel of graph_zeros. Included by nvcc too.
#pragma once

namespace reel::kernels {

inline constexpr unsigned kZeroThreads = 128;

// Takes (unsigned char* first, unsigned bytes); for one block.
const void* ZeroKernel();

}  // namespace reel::kernels
