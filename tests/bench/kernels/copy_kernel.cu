// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "tests/bench/kernels/copy_kernel.h"

namespace reel::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kVectors = 4;  // a thread

__global__ void __launch_bounds__(kThreads)
    CopyVectors(uint4* to, const uint4* from, int64_t vectors) {
  const int64_t first = int64_t{blockIdx.x} * kThreads * kVectors + threadIdx.x;
  uint4 values[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    if (first + v * kThreads < vectors) values[v] = from[first + v * kThreads];
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    if (first + v * kThreads < vectors) to[first + v * kThreads] = values[v];
  }
}

}  // namespace

int32_t LaunchCopy(void* to, const void* from, int64_t bytes, void* stream) {
  const int64_t vectors = bytes / 16;
  if (vectors == 0) return cudaSuccess;
  const auto grid =
      static_cast<unsigned>((vectors + kThreads * kVectors - 1) / kThreads / kVectors);
  CopyVectors<<<grid, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      static_cast<uint4*>(to), static_cast<const uint4*>(from), vectors);
  return cudaGetLastError();
}

}  // namespace reel::kernels
