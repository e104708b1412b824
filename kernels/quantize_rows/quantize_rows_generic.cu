// SPDX-License-Identifier: Apache-2.0
// quantize_rows for any strides, a block a row; the row is read twice.
#include <algorithm>

#include "kernels/quantize_rows/quantize_rows_device.cuh"

namespace reel::kernels {
namespace {

constexpr int kThreads = 256;

template <typename T>
__global__ void __launch_bounds__(kThreads)
    QuantizeAny(const __grid_constant__ QuantizeRowsParams p) {
  __shared__ unsigned scratch[kThreads / 32];
  for (int64_t index = blockIdx.x; index < p.shape.rows; index += gridDim.x) {
    const RowPlace place = PlaceOf(p.shape, index);
    const RowPointer row = PointAt(p.shape, p.x, place);
    const T* x = reinterpret_cast<const T*>(row.data);
    RowScale scale;
    if (p.static_scale != nullptr) {
      scale = StaticScale(*p.static_scale);
    } else {
      unsigned largest = 0;
      for (int64_t i = threadIdx.x; i < p.shape.width; i += kThreads) {
        largest = max(largest, SizeBits(ToFp32(x[i * row.inner])));
      }
      scale = ScaleOf(GroupMax<kThreads>(largest, scratch));
    }
    uint8_t* out = OutAt(p, place);
    for (int64_t i = threadIdx.x; i < p.shape.width; i += kThreads) {
      out[i * p.out.inner] = ToE4m3(ToFp32(x[i * row.inner]), scale);
    }
    if (threadIdx.x == 0) StoreScale(p, place, scale);
    __syncthreads();  // the scratch of the previous reduction has been read
  }
}

}  // namespace

int32_t LaunchQuantizeRowsGeneric(const QuantizeRowsParams& params, void* stream) {
  if (params.shape.rows == 0 || params.shape.width == 0) return cudaSuccess;
  const auto grid = static_cast<unsigned>(std::min<int64_t>(params.shape.rows, 0x7fffffff));
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(params.x.dtype, [&]<typename T>(T) {
    QuantizeAny<T><<<grid, kThreads, 0, on>>>(params);
    return cudaGetLastError();
  });
}

}  // namespace reel::kernels
