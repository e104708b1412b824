// SPDX-License-Identifier: Apache-2.0
// Lets kernels overlap with their neighbours on a stream. For .cu files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace reel::kernels {

// kOverlap (sm_90): a kernel starts before the previous one has ended, waits before it touches
// memory, and lets the next one start.
template <bool kOverlap>
__device__ inline void AwaitKernelAhead() {
#if __CUDA_ARCH__ >= 900
  if constexpr (kOverlap) cudaGridDependencySynchronize();
#endif
}
template <bool kOverlap>
__device__ inline void LetNextKernelBegin() {
#if __CUDA_ARCH__ >= 900
  if constexpr (kOverlap) cudaTriggerProgrammaticLaunchCompletion();
#endif
}

struct KernelLaunch {
  dim3 blocks;
  int threads;
  int shared_bytes = 0;
  cudaStream_t stream;
};
template <bool kOverlap, typename Kernel, typename... Params>
int32_t LaunchKernel(const KernelLaunch& launch, Kernel kernel, const Params&... params) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = launch.blocks;
  config.blockDim = dim3(static_cast<unsigned>(launch.threads));
  config.dynamicSmemBytes = static_cast<size_t>(launch.shared_bytes);
  config.stream = launch.stream;
  config.attrs = &overlap;
  config.numAttrs = kOverlap ? 1 : 0;
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, params...);
  const cudaError_t last = cudaGetLastError();
  return error != cudaSuccess ? error : last;
}

}  // namespace reel::kernels
