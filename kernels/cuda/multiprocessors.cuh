// SPDX-License-Identifier: Apache-2.0
// The number of multiprocessors of a device. For .cu files.
#pragma once

#include <cuda_runtime_api.h>

namespace reel::kernels {

// For the current device.
inline cudaError_t CountMultiprocessors(int& count) {
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  return cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
}

}  // namespace reel::kernels
