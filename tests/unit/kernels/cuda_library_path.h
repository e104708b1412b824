// SPDX-License-Identifier: Apache-2.0
// The CUDA library of a test or a benchmark: the one that was built with it, unless
// REEL_CUDA_LIBRARY says where another was brought.
#pragma once

#include <cstdlib>
#include <string>

namespace reel::kernels {

inline std::string CudaLibraryPath() {
  const char* const brought = std::getenv("REEL_CUDA_LIBRARY");
  return brought != nullptr ? brought : REEL_CUDA_LIBRARY;
}

}  // namespace reel::kernels
