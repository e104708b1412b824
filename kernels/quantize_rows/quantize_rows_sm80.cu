// SPDX-License-Identifier: Apache-2.0
// quantize_rows for rows of 16-byte vectors, held in registers and read once
// (QuantizeRowsVectorAccepts).
#include "kernels/quantize_rows/quantize_rows_device.cuh"
#include "kernels/rows/plain_row.cuh"
#include "kernels/rows/vector_rows.cuh"

namespace reel::kernels {
namespace {

// The largest SizeBits of a vector.
template <typename T>
__device__ unsigned LargestOfPacked(const uint4& raw) {
  if constexpr (sizeof(T) == 4) {
    return max(max(raw.x & 0x7fffffffu, raw.y & 0x7fffffffu),
               max(raw.z & 0x7fffffffu, raw.w & 0x7fffffffu));
  } else {
    // Two at a time: 16-bit magnitudes are ordered like their bits.
    constexpr unsigned kSizes = 0x7fff7fffu;
    const unsigned two = __vmaxu2(__vmaxu2(raw.x & kSizes, raw.y & kSizes),
                                  __vmaxu2(raw.z & kSizes, raw.w & kSizes));
    const unsigned one = max(two & 0xffffu, two >> 16);
    const auto bits = static_cast<uint16_t>(one);
    return SizeBits(ToFp32(reinterpret_cast<const T&>(bits)));
  }
}

struct PlainQuantizeParams {
  PlainOperand x, out, scale;
  const float* static_scale;
  int64_t outer_rows;
  int64_t inner_rows;
  int32_t vectors;  // of a row
};

// kLanes threads a row, kVectors vectors each.
template <typename T, int kVectors, int kLanes>
__global__ void __launch_bounds__(kPlainThreads<kLanes>)
    QuantizeVectors(const __grid_constant__ PlainQuantizeParams p) {
  constexpr int kThreads = kPlainThreads<kLanes>;
  constexpr int kGroups = kThreads / kLanes;
  using Row = PlainRow<T, 0, kVectors, kLanes>;
  __shared__ unsigned scratch[kThreads / 32];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool own_scale = p.static_scale == nullptr;
  const int64_t step = int64_t{gridDim.x} * kGroups;
  for (int64_t outer = blockIdx.y; outer < p.outer_rows; outer += gridDim.y) {
    for (int64_t first = int64_t{blockIdx.x} * kGroups; first < p.inner_rows; first += step) {
      const int64_t mine = first + static_cast<int>(threadIdx.x) / kLanes;
      const bool active = mine < p.inner_rows;
      const int64_t row = active ? mine : first;
      uint4 x[kVectors];
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int vector = v * kLanes + lane;
        x[v] = {0, 0, 0, 0};
        if (vector < p.vectors) x[v] = Row::template At<Reuse::kStreamed>(p.x, outer, row, vector);
      }
      RowScale scale{};
      if (own_scale) {
        unsigned largest = 0;
#pragma unroll
        for (int v = 0; v < kVectors; ++v) largest = max(largest, LargestOfPacked<T>(x[v]));
        scale = ScaleOf(GroupMax<kLanes>(largest, scratch));
      } else {
        scale = StaticScale(*p.static_scale);
      }
      auto* out = reinterpret_cast<uint8_t*>(p.out.data) + outer * p.out.outer + row * p.out.inner;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int vector = v * kLanes + lane;
        if (!active || vector >= p.vectors) continue;
        float values[kPerVector<T>];
        Unpack<T>(x[v], values);
        StoreE4m3(out + vector * kPerVector<T>, scale, own_scale && scale.finite, values);
      }
      if (own_scale && active && lane == 0) {
        *reinterpret_cast<float*>(p.scale.data + outer * p.scale.outer + row * p.scale.inner) =
            scale.scale;
      }
      if constexpr (kLanes > 32) {
        // The scratch of the previous reduction has been read.
        if (first + step < p.inner_rows || outer + gridDim.y < p.outer_rows) __syncthreads();
      }
    }
  }
}

inline PlainQuantizeParams PlainQuantizeOf(const QuantizeRowsParams& p) {
  return {.x = PlainOf(p.shape, p.x),
          .out = PlainOf(p.shape, p.out),
          .scale = PlainOf(p.shape, p.scale),
          .static_scale = p.static_scale,
          .outer_rows = p.shape.dims < 2 ? 1 : p.shape.sizes[0],
          .inner_rows = p.shape.dims < 2 ? p.shape.rows : p.shape.sizes[1],
          .vectors = static_cast<int32_t>(p.shape.width * DtypeSize(p.x.dtype) / 16)};
}

template <typename T>
int32_t LaunchTyped(const PlainQuantizeParams& params, cudaStream_t stream) {
  const auto launch = [&]<int kVectors, int kLanes>() {
    constexpr int kThreads = kPlainThreads<kLanes>;
    const dim3 grid(GridFor(params.inner_rows, kThreads / kLanes),
                    static_cast<unsigned>(std::min<int64_t>(params.outer_rows, 65535)));
    return LaunchVectorKernel<false>(QuantizeVectors<T, kVectors, kLanes>, params, grid, stream,
                                     kThreads);
  };
  const int vectors = params.vectors;
  if (vectors <= 32) return launch.template operator()<1, 32>();
  if (vectors <= 128) return launch.template operator()<4, 32>();
  if (vectors <= 256) return launch.template operator()<4, 64>();
  if (vectors <= 512) return launch.template operator()<4, 128>();
  if (vectors <= 1024) return launch.template operator()<8, 128>();
  return cudaErrorInvalidValue;
}

}  // namespace

int32_t LaunchQuantizeRowsSm80(const QuantizeRowsParams& params, void* stream) {
  if (params.shape.rows == 0 || params.shape.width == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  const PlainQuantizeParams plain = PlainQuantizeOf(params);
  return WithDeviceType(params.x.dtype, [&]<typename T>(T) { return LaunchTyped<T>(plain, on); });
}

}  // namespace reel::kernels
