// SPDX-License-Identifier: Apache-2.0
// frame_convert on any device: one job a thread, any strides. Bound by memory; the caches serve
// neighbouring reads of a chroma sample.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "kernels/frame_convert/frame_convert_job.h"
#include "kernels/rows/row_device.cuh"

namespace reel::kernels {
namespace {

constexpr int kThreads = 256;

template <typename T>
__global__ void __launch_bounds__(kThreads)
    FrameJobsOf(const __grid_constant__ FrameConvertParams p, int64_t jobs) {
  const auto read = [&](int64_t offset) {
    const float x = ToFp32(static_cast<const T*>(p.in)[offset]);
    if (p.exact) return CutToUnit(x * 0.5f + 0.5f);
    const float half = ToFp32(FromFp32<T>(x * 0.5f));
    return CutToUnit(ToFp32(FromFp32<T>(half + 0.5f)));
  };
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t job = int64_t{blockIdx.x} * kThreads + threadIdx.x; job < jobs; job += step) {
    ConvertJob(p, read, job);
  }
}

}  // namespace

int32_t LaunchFrameConvertGeneric(const FrameConvertParams& params, void* stream) {
  const int64_t jobs = FrameJobs(params);
  if (jobs == 0) return cudaSuccess;
  const auto grid =
      static_cast<unsigned>(std::min<int64_t>((jobs + kThreads - 1) / kThreads, 0x7fffffff));
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(params.dtype, [&]<typename T>(T) {
    FrameJobsOf<T><<<grid, kThreads, 0, on>>>(params, jobs);
    return cudaGetLastError();
  });
}

}  // namespace reel::kernels
