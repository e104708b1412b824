// SPDX-License-Identifier: Apache-2.0
#include "model/torch_cuda/memory_limit.h"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <algorithm>

extern "C" __attribute__((visibility("default"))) void reel_limit_memory(int device,
                                                                         int64_t bytes) {
  at::globalContext().lazyInitDevice(c10::kCUDA);  // before it there is no allocator
  const auto index = static_cast<c10::DeviceIndex>(device);
  const auto total = static_cast<double>(at::cuda::getDeviceProperties(index)->totalGlobalMem);
  const double share = std::min(static_cast<double>(bytes) / total, 1.0);
  c10::cuda::CUDACachingAllocator::setMemoryFraction(share, index);
}
