// SPDX-License-Identifier: Apache-2.0
// Rows of 16-byte vectors in registers, read once (QuantizeRowsVectorAccepts).
#include "kernels/quantize_rows/quantize_rows_device.cuh"
#include "kernels/rows/vector_rows.cuh"

namespace reel::kernels {
namespace {

template <typename T>
__device__ void StoreE4m3(uint8_t* out, const RowScale& scale, const float (&x)[kPerVector<T>]) {
  uint32_t words[kPerVector<T> / 4];
#pragma unroll
  for (int w = 0; w < kPerVector<T> / 4; ++w) {
    words[w] = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      words[w] |= static_cast<uint32_t>(ToE4m3(x[4 * w + k], scale)) << (8 * k);
    }
  }
  if constexpr (kPerVector<T> == 8) {
    *reinterpret_cast<uint2*>(out) = {words[0], words[1]};
  } else {
    *reinterpret_cast<uint32_t*>(out) = words[0];
  }
}

// kLanes threads a row, kVectors vectors each.
template <typename T, int kVectors, int kLanes>
__global__ void __launch_bounds__(kVectorThreads)
    QuantizeVectors(const __grid_constant__ QuantizeRowsParams p) {
  constexpr int kPer = kPerVector<T>;
  constexpr int kGroups = kVectorThreads / kLanes;
  __shared__ unsigned scratch[kVectorThreads / 32];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int group = static_cast<int>(threadIdx.x) / kLanes;
  const auto vectors = static_cast<int>(p.shape.width / kPer);
  const int64_t step = int64_t{gridDim.x} * kGroups;
  for (int64_t first = int64_t{blockIdx.x} * kGroups; first < p.shape.rows; first += step) {
    const bool active = first + group < p.shape.rows;
    const RowPlace place = PlaceOf(p.shape, active ? first + group : first);
    const RowPointer row = PointAt(p.shape, p.x, place);
    float x[kVectors][kPer];
    unsigned largest = 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (v * kLanes + lane < vectors) LoadRow<T>(row, (v * kLanes + lane) * kPer, x[v]);
    }
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (v * kLanes + lane >= vectors) continue;
#pragma unroll
      for (int k = 0; k < kPer; ++k) largest = max(largest, SizeBits(x[v][k]));
    }
    const RowScale scale = p.static_scale != nullptr ? StaticScale(*p.static_scale)
                                                     : ScaleOf(GroupMax<kLanes>(largest, scratch));
    uint8_t* out = OutAt(p, place);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (!active || v * kLanes + lane >= vectors) continue;
      StoreE4m3<T>(out + (v * kLanes + lane) * kPer, scale, x[v]);
    }
    if (active && lane == 0) StoreScale(p, place, scale);
    if constexpr (kLanes > 32) {
      if (first + step < p.shape.rows) __syncthreads();  // the scratch has been read
    }
  }
}

template <typename T>
int32_t LaunchTyped(const QuantizeRowsParams& params, cudaStream_t stream) {
  const auto launch = [&](auto kernel, int64_t lanes) {
    const int64_t rows = kVectorThreads / lanes;
    return LaunchVectorKernel<false>(kernel, params, GridFor(params.shape.rows, rows), stream);
  };
  const int64_t vectors = params.shape.width / kPerVector<T>;
  if (vectors <= 32) return launch(QuantizeVectors<T, 1, 32>, 32);
  if (vectors <= 128) return launch(QuantizeVectors<T, 4, 32>, 32);
  if (vectors <= 256) return launch(QuantizeVectors<T, 2, 128>, 128);
  if (vectors <= 512) return launch(QuantizeVectors<T, 4, 128>, 128);
  if (vectors <= 1024) return launch(QuantizeVectors<T, 8, 128>, 128);
  return cudaErrorInvalidValue;
}

}  // namespace

int32_t LaunchQuantizeRowsSm80(const QuantizeRowsParams& params, void* stream) {
  if (params.shape.rows == 0 || params.shape.width == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(params.x.dtype, [&]<typename T>(T) { return LaunchTyped<T>(params, on); });
}

}  // namespace reel::kernels
