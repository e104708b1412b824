// SPDX-License-Identifier: Apache-2.0
// int8_rows for any strides, a block a row; the row is read twice, a group of 32 elements by a
// thread.
#include <algorithm>

#include "kernels/int8_rows/int8_rows_launch.h"
#include "kernels/rows/int8_device.cuh"

namespace reel::kernels {
namespace {

constexpr int kThreads = 256;

template <typename T>
__device__ inline void ReadTurned(const T* x, int64_t inner, int64_t quarter, int64_t first,
                                  bool gelu, float (&values)[kTurned]) {
#pragma unroll
  for (int i = 0; i < kTurned; ++i) {
    const float value = ToFp32(x[((i / kTurnedRun) * quarter + first + i % kTurnedRun) * inner]);
    values[i] = gelu ? GeluTanh(value) : value;
  }
  Turn(values);
}

template <typename T>
__global__ void __launch_bounds__(kThreads) Int8OfAny(const __grid_constant__ Int8RowsParams p) {
  __shared__ unsigned scratch[kThreads / 32];
  const int64_t quarter = p.shape.width / kQuarters;
  for (int64_t index = blockIdx.x; index < p.shape.rows; index += gridDim.x) {
    const RowPlace place = PlaceOf(p.shape, index);
    const RowPointer row = PointAt(p.shape, p.x, place);
    const T* x = reinterpret_cast<const T*>(row.data);
    float values[kTurned];
    unsigned largest = 0;
    for (int64_t first = int64_t{threadIdx.x} * kTurnedRun; first < quarter;
         first += kThreads * kTurnedRun) {
      ReadTurned(x, row.inner, quarter, first, p.gelu, values);
      largest = max(largest, LargestOf(values));
    }
    const Int8Scale scale = Int8ScaleOf(GroupMax<kThreads>(largest, scratch));
    auto* out = static_cast<int8_t*>(p.out.data) + OffsetAt(p.shape, p.out, place);
    for (int64_t first = int64_t{threadIdx.x} * kTurnedRun; first < quarter;
         first += kThreads * kTurnedRun) {
      ReadTurned(x, row.inner, quarter, first, p.gelu, values);
#pragma unroll
      for (int i = 0; i < kTurned; ++i) {
        out[((i / kTurnedRun) * quarter + first + i % kTurnedRun) * p.out.inner] =
            static_cast<int8_t>(Int8Bits(values[i], scale.codes_of_one));
      }
    }
    if (threadIdx.x == 0) {
      static_cast<float*>(p.scale.data)[OffsetAt(p.shape, p.scale, place)] = scale.scale;
    }
    __syncthreads();  // the scratch of the previous reduction has been read
  }
}

}  // namespace

int32_t LaunchInt8RowsGeneric(const Int8RowsParams& params, void* stream) {
  if (params.shape.rows == 0 || params.shape.width == 0) return cudaSuccess;
  const auto grid = static_cast<unsigned>(std::min<int64_t>(params.shape.rows, 0x7fffffff));
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(params.x.dtype, [&]<typename T>(T) {
    Int8OfAny<T><<<grid, kThreads, 0, on>>>(params);
    return cudaGetLastError();
  });
}

}  // namespace reel::kernels
