// SPDX-License-Identifier: Apache-2.0
// depth_to_space on any device: a thread a channel of a pixel, any strides.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "kernels/depth_to_space/depth_to_space_launch.h"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {
namespace {

constexpr int kThreads = 256;

template <typename T>
__global__ void __launch_bounds__(kThreads)
    DepthToSpaceChannels(const __grid_constant__ DepthToSpaceParams p, int64_t jobs) {
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t index = int64_t{blockIdx.x} * kThreads + threadIdx.x; index < jobs; index += step) {
    const DepthToSpaceJob job = DepthToSpaceJobAt(p, index, 1);
    for (int n = 0; n < 8; ++n) {
      int64_t to = 0;
      if (!OutOffsetOf(p, job, n, to)) continue;
      const int64_t channel = 8 * job.channel + n;
      float value = ToFp32(static_cast<const T*>(p.x.data)[OffsetOf(p.x, job.at, channel)]);
      if (p.bias != nullptr) {
        value += ToFp32(static_cast<const T*>(p.bias)[channel * p.bias_stride]);
      }
      if (p.residual.data != nullptr) {
        const int64_t from = OffsetOf(p.residual, job.at, channel % (8 * p.residual_channels));
        value += ToFp32(static_cast<const T*>(p.residual.data)[from]);
      }
      static_cast<T*>(p.out.data)[to] = FromFp32<T>(value);
    }
  }
}

}  // namespace

int32_t LaunchDepthToSpaceGeneric(const DepthToSpaceParams& params, void* stream) {
  const int64_t jobs = DepthToSpacePixels(params) * params.channels;
  if (jobs == 0) return cudaSuccess;
  const auto grid =
      static_cast<unsigned>(std::min<int64_t>((jobs + kThreads - 1) / kThreads, 0x7fffffff));
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(params.dtype, [&]<typename T>(T) {
    DepthToSpaceChannels<T><<<grid, kThreads, 0, on>>>(params, jobs);
    return cudaGetLastError();
  });
}

}  // namespace reel::kernels
