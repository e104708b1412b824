// SPDX-License-Identifier: Apache-2.0
// depth_to_space for contiguous channels (DepthToSpacePairsAccept): a thread computes two channels
// of a pixel. It reads their 16 values in vectors, and writes a pair to each of the eight pixels,
// so that neighbouring threads write neighbouring pairs.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "kernels/depth_to_space/depth_to_space_launch.h"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {
namespace {

constexpr int kThreads = 256;

template <typename T>
struct alignas(2 * sizeof(T)) Pair {
  T first, second;
};

// Adds the values at `offset` to those of two channels.
template <typename T, Reuse kReuse>
__device__ void AddPair(const void* data, int64_t offset, float (&values)[16]) {
  float added[16];
  LoadRun<T, kReuse>(static_cast<const T*>(data) + offset, added);
#pragma unroll
  for (int k = 0; k < 16; ++k) values[k] += added[k];
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    DepthToSpacePairs(const __grid_constant__ DepthToSpaceParams p, int64_t jobs) {
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t index = int64_t{blockIdx.x} * kThreads + threadIdx.x; index < jobs; index += step) {
    const DepthToSpaceJob job = DepthToSpaceJobAt(p, index, 2);
    const int64_t channel = 8 * job.channel;
    float values[16];
    LoadRun<T, Reuse::kStreamed>(static_cast<const T*>(p.x.data) + OffsetOf(p.x, job.at, channel),
                                 values);
    if (p.bias != nullptr) AddPair<T, Reuse::kCached>(p.bias, channel, values);
    if (p.residual.data != nullptr) {
      const int64_t repeat = 8 * p.residual_channels;
      const int64_t from = channel - Quotient(channel, repeat) * repeat;
      AddPair<T, Reuse::kCached>(p.residual.data, OffsetOf(p.residual, job.at, from), values);
    }
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      int64_t to = 0;
      if (!OutOffsetOf(p, job, n, to)) continue;
      *reinterpret_cast<Pair<T>*>(static_cast<T*>(p.out.data) + to) = {FromFp32<T>(values[n]),
                                                                       FromFp32<T>(values[8 + n])};
    }
  }
}

}  // namespace

int32_t LaunchDepthToSpaceSm80(const DepthToSpaceParams& params, void* stream) {
  const int64_t jobs = DepthToSpacePixels(params) * (params.channels / 2);
  if (jobs == 0) return cudaSuccess;
  const auto grid =
      static_cast<unsigned>(std::min<int64_t>((jobs + kThreads - 1) / kThreads, 0x7fffffff));
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(params.dtype, [&]<typename T>(T) {
    DepthToSpacePairs<T><<<grid, kThreads, 0, on>>>(params, jobs);
    return cudaGetLastError();
  });
}

}  // namespace reel::kernels
