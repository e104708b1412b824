// SPDX-License-Identifier: Apache-2.0
// gelu_tanh to e4m3 for rows of 16-byte vectors (ActivationE4m3Accepts): a row stays in registers
// while its largest value is found. Bound by memory: x is read once, a byte an element written.
//
// Plain 16-bit rows with their own scale have a kernel that finds the scale without activating.
// gelu grows with x from -0.75 on and is never below -0.1701. So the largest x has the largest
// gelu, unless all are small. On an H200 the arithmetic of the other kernel takes longer than its
// memory traffic.
#include "kernels/activation/activation_function.cuh"
#include "kernels/activation/activation_launch.h"
#include "kernels/rows/plain_e4m3.cuh"
#include "kernels/rows/vector_rows.cuh"

namespace reel::kernels {
namespace {

struct GeluE4m3Params {
  PlainOperand x;
  RowPointer bias;
  PlainCodes out;
  int64_t outer_rows;
  int64_t inner_rows;
  int32_t vectors;  // elements of a row
};

// kLanes threads a row, kVectors vectors each; a multiprocessor has 512 threads at the least, which
// leaves a thread registers enough for its values.
template <typename T, int kVectors, int kLanes>
__global__ void __launch_bounds__(kPlainThreads<kLanes>, 768 / kPlainThreads<kLanes>)
    GeluE4m3Rows(const __grid_constant__ GeluE4m3Params p) {
  constexpr int kPer = kPerVector<T>;
  constexpr int kThreads = kPlainThreads<kLanes>;
  constexpr int kGroups = kThreads / kLanes;
  using Row = PlainRow<T, 0, kVectors, kLanes>;
  __shared__ unsigned scratch[kThreads / 32];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
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
        if (vector < p.vectors) x[v] = Row::template At<Reuse::kStreamed>(p.x, outer, row, vector);
      }
      E4m3Part<kPer, kVectors, kLanes, 1> part;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int vector = v * kLanes + lane;
        if (vector >= p.vectors) continue;
        auto& values = part.values[0][v];
        Unpack<T>(x[v], values);
        if (p.bias.data != nullptr) {
          float bias[kPer];
          LoadVector<T>(p.bias, int64_t{vector} * kPer, 0.0f, bias);
#pragma unroll
          for (int k = 0; k < kPer; ++k) values[k] += bias[k];
        }
#pragma unroll
        for (int k = 0; k < kPer; ++k) values[k] = Activated<Activation::kGeluTanh>(values[k]);
      }
      RowScale scales[1];
      part.Scales(p.out, p.vectors, lane, scratch, scales);
      if (active) part.Store(p.out, outer, row, p.vectors, lane, 0, scales[0]);
      if constexpr (kLanes > 32) {
        // The scratch of the previous reduction has been read.
        if (first + step < p.inner_rows || outer + gridDim.y < p.outer_rows) __syncthreads();
      }
    }
  }
}

// The values that the kernel below compares, 2 of a vector at once.
template <typename T>
struct Two;
template <>
struct Two<__half> {
  using Type = __half2;
};
template <>
struct Two<__nv_bfloat16> {
  using Type = __nv_bfloat162;
};

// From here on gelu_tanh(x) exceeds its value at any x below 0.
constexpr float kGrows = 0.3f;

// 1 / (1 + exp(-z)) as gelu_tanh needs it, with 0 for results below 2^-126. Only for rows with a
// value above kGrows, beside which such a product is 0 in e4m3.
__device__ inline float GeluGate(float x) {
  constexpr float kLinear = -1.59576912f * 1.44269504f;
  float exponential, gate;
  asm("ex2.approx.ftz.f32 %0, %1;"
      : "=f"(exponential)
      : "f"(x * fmaf(0.044715f * kLinear, x * x, kLinear)));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(gate) : "f"(1.0f + exponential));
  return gate;
}

// One thread's part of a row.
template <typename T, int kVectors, int kLanes>
struct GeluRow {
  static constexpr int kPer = kPerVector<T>;
  using Pair = typename Two<T>::Type;

  uint4 x[kVectors];
  int vectors;
  int lane;

  __device__ bool Has(int v) const { return v * kLanes + lane < vectors; }

  // The largest x, by its bits; 0 if none is above 0. NaN if one is NaN or -infinity, whose gelu is
  // NaN.
  __device__ unsigned LargestX() const {
    Pair most, least;
    most.x = most.y = least.x = least.y = T(0.0f);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (!Has(v)) continue;
      const Pair* pairs = reinterpret_cast<const Pair*>(&x[v]);
#pragma unroll
      for (int k = 0; k < kPer / 2; ++k) {
        most = __hmax2_nan(most, pairs[k]);
        least = __hmin2_nan(least, pairs[k]);
      }
    }
    const unsigned lowest = SizeBits(ToFp32(__hmin_nan(least.x, least.y)));
    return lowest >= 0x7f800000u ? 0x7fc00000u : SizeBits(ToFp32(__hmax_nan(most.x, most.y)));
  }

  __device__ void Activate(int v, float (&values)[kPer]) const {
    Unpack<T>(x[v], values);
#pragma unroll
    for (float& value : values) value = Activated<Activation::kGeluTanh>(value);
  }

  // For rows without an x above kGrows.
  __device__ unsigned LargestGelu() const {
    unsigned largest = 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (!Has(v)) continue;
      float values[kPer];
      Activate(v, values);
      largest = max(largest, LargestOf(values));
    }
    return largest;
  }

  // For rows with a value above kGrows; a scale that is not finite makes every code NaN. A gelu is
  // not a 16-bit number, so a product with the inverse misses no tie.
  __device__ void StoreGrown(uint8_t* codes, const RowScale& scale) const {
    const float inverse = scale.finite ? scale.inverse : __uint_as_float(0x7fc00000u);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (!Has(v)) continue;
      float values[kPer];
      Unpack<T>(x[v], values);
      uint32_t words[kPer / 4];
#pragma unroll
      for (int k = 0; k < kPer; k += 2) {
        const float2 two = {values[k] * GeluGate(values[k]) * inverse,
                            values[k + 1] * GeluGate(values[k + 1]) * inverse};
        const uint32_t code = __nv_cvt_float2_to_fp8x2(two, __NV_SATFINITE, __NV_E4M3);
        words[k / 4] = k % 4 == 0 ? code : words[k / 4] | code << 16;
      }
      static_assert(kPer == 8);
      *reinterpret_cast<uint2*>(codes + (v * kLanes + lane) * kPer) = {words[0], words[1]};
    }
  }
  __device__ void StoreSmall(uint8_t* codes, const RowScale& scale) const {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (!Has(v)) continue;
      float values[kPer];
      Activate(v, values);
      StoreE4m3(codes + (v * kLanes + lane) * kPer, scale, scale.finite, values);
    }
  }
};

template <typename T, int kVectors, int kLanes>
__global__ void __launch_bounds__(kPlainThreads<kLanes>, 1024 / kPlainThreads<kLanes>)
    OwnScaleGeluE4m3Rows(const __grid_constant__ GeluE4m3Params p) {
  constexpr int kThreads = kPlainThreads<kLanes>;
  constexpr int kGroups = kThreads / kLanes;
  __shared__ unsigned scratch[2][kThreads / 32];
  GeluRow<T, kVectors, kLanes> row;
  row.vectors = p.vectors;
  row.lane = static_cast<int>(threadIdx.x) % kLanes;
  const int64_t step = int64_t{gridDim.x} * kGroups;
  for (int64_t outer = blockIdx.y; outer < p.outer_rows; outer += gridDim.y) {
    for (int64_t first = int64_t{blockIdx.x} * kGroups; first < p.inner_rows; first += step) {
      const int64_t mine = first + static_cast<int>(threadIdx.x) / kLanes;
      const bool active = mine < p.inner_rows;
      const int64_t index = active ? mine : first;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        if (!row.Has(v)) continue;
        row.x[v] = PlainRow<T, 0, kVectors, kLanes>::template At<Reuse::kStreamed>(
            p.x, outer, index, v * kLanes + row.lane);
      }
      const unsigned most = GroupMax<kLanes>(row.LargestX(), scratch[0]);
      const bool grown = most >= __float_as_uint(kGrows);  // the same for all threads of a row
      const unsigned largest =
          grown ? SizeBits(Activated<Activation::kGeluTanh>(__uint_as_float(most)))
                : GroupMax<kLanes>(row.LargestGelu(), scratch[1]);
      const RowScale scale = ScaleOf(largest);
      if (active) {
        auto* codes = reinterpret_cast<uint8_t*>(p.out.codes.data) + outer * p.out.codes.outer +
                      index * p.out.codes.inner;
        if (grown) {
          row.StoreGrown(codes, scale);
        } else {
          row.StoreSmall(codes, scale);
        }
        if (row.lane == 0) {
          *reinterpret_cast<float*>(p.out.scales.data + outer * p.out.scales.outer +
                                    index * p.out.scales.inner) = scale.scale;
        }
      }
      if constexpr (kLanes > 32) {
        // The scratch of the previous reduction has been read.
        if (first + step < p.inner_rows || outer + gridDim.y < p.outer_rows) __syncthreads();
      }
    }
  }
}

GeluE4m3Params PlainOf(const ActivationParams& p) {
  return {.x = PlainOf(p.shape, p.x),
          .bias = {static_cast<char*>(p.bias.data), 1, p.bias.dtype == Dtype::kF32},
          .out = PlainOf(p.shape, p.out, p.out_scale),
          .outer_rows = p.shape.dims < 2 ? 1 : p.shape.sizes[0],
          .inner_rows = p.shape.dims < 2 ? p.shape.rows : p.shape.sizes[1],
          .vectors = static_cast<int32_t>(p.shape.width * DtypeSize(p.x.dtype) / 16)};
}

template <typename T>
int32_t LaunchTyped(const GeluE4m3Params& params, cudaStream_t stream) {
  const auto launch = [&]<int kVectors, int kLanes>() {
    constexpr int kThreads = kPlainThreads<kLanes>;
    const dim3 grid(GridFor(params.inner_rows, kThreads / kLanes),
                    static_cast<unsigned>(std::min<int64_t>(params.outer_rows, 65535)));
    if constexpr (sizeof(T) == 2) {
      if (params.bias.data == nullptr && params.out.fixed == 0) {
        return LaunchVectorKernel<false>(OwnScaleGeluE4m3Rows<T, kVectors, kLanes>, params, grid,
                                         stream, kThreads);
      }
    }
    return LaunchVectorKernel<false>(GeluE4m3Rows<T, kVectors, kLanes>, params, grid, stream,
                                     kThreads);
  };
  if (params.vectors <= 128) return launch.template operator()<4, 32>();
  if (params.vectors <= 512) return launch.template operator()<4, 128>();
  if (params.vectors <= 1024) return launch.template operator()<4, 256>();
  if (params.vectors <= 2048) return launch.template operator()<4, 512>();
  return cudaErrorInvalidValue;
}

}  // namespace

int32_t LaunchActivationE4m3Sm80(const ActivationParams& params, void* stream) {
  if (params.shape.rows == 0 || params.shape.width == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  const GeluE4m3Params plain = PlainOf(params);
  return WithDeviceType(params.x.dtype, [&]<typename T>(T) { return LaunchTyped<T>(plain, on); });
}

}  // namespace reel::kernels
