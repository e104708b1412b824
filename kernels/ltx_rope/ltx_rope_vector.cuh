// SPDX-License-Identifier: Apache-2.0
// ltx_rope and qk_norm_rope for rows of 16-byte vectors; formula and table in ltx_rope.h.
//
// q and k of a token are held in registers together, so that its cosines and sines are fetched
// once. The factored table (128 KB for 2,688 tokens of width 2048) stays in the caches. A pair of
// channels is one thread's, so writing in place is safe. Bound by memory: q and k are read and
// written once.
#pragma once

#include "kernels/ltx_rope/ltx_rope_turns.cuh"
#include "kernels/rows/vector_rows.cuh"

namespace reel::kernels {

// The sums over kLanes threads of two values at once, as GroupSum.
template <int kLanes>
__device__ inline void GroupSums(float (&values)[2], float (*scratch)[kVectorThreads / 32]) {
#pragma unroll
  for (int side = 0; side < 2; ++side) values[side] = GroupSum<32>(values[side], nullptr);
  if constexpr (kLanes > 32) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (threadIdx.x % 32 < 2)
      scratch[threadIdx.x % 32][warp] = values[threadIdx.x % 32 == 0 ? 0 : 1];
    __syncthreads();
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      values[side] = 0;
#pragma unroll
      for (int w = 0; w < kLanes / 32; ++w) values[side] += scratch[side][w];
    }
  }
}

template <typename T>
__device__ inline float SquaresOf(const uint4& raw) {
  float x[kPerVector<T>];
  Unpack<T>(raw, x);
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kPerVector<T>; ++k) sum += x[k] * x[k];
  return sum;
}

// One thread's part of q and k of a token.
template <typename T, bool kNorm, TurnTable kTable, int kVectors, int kLanes>
struct TokenPart {
  static constexpr int kPer = kPerVector<T>;
  using Row = PlainRow<T, 0, kVectors, kLanes>;
  uint4 raw[2][kVectors];

  __device__ void Load(const PlainRopeParams& p, int64_t outer, int64_t row, int lane) {
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      if (side >= p.sides) continue;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int vector = v * kLanes + lane;
        if (vector >= p.vectors) continue;
        raw[side][v] = Row::template At<Reuse::kStreamed>(p.in[side], outer, row, vector);
      }
    }
  }

  // Of both sides; 1 without a norm.
  __device__ void Scales(const PlainRopeParams& p, int lane, float (*scratch)[kVectorThreads / 32],
                         float (&rstd)[2]) const {
    if constexpr (kNorm) {
#pragma unroll
      for (int side = 0; side < 2; ++side) {
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          if (side >= p.sides || v * kLanes + lane >= p.vectors) continue;
          rstd[side] += SquaresOf<T>(raw[side][v]);
        }
      }
      GroupSums<kLanes>(rstd, scratch);
#pragma unroll
      for (int side = 0; side < 2; ++side) {
        rstd[side] = rsqrtf(rstd[side] * p.inverse_width + p.eps);
      }
    }
  }

  // Vector v of both sides.
  __device__ void Emit(const PlainRopeParams& p, int64_t outer, int64_t row, int vector, int v,
                       const VectorTurns<kPer>& turns, const float (&rstd)[2]) const {
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      if (side >= p.sides) continue;
      float x[kPer];
      Unpack<T>(raw[side][v], x);
      if constexpr (kNorm) {
#pragma unroll
        for (int k = 0; k < kPer; ++k) x[k] *= rstd[side];
        if (p.weight[side].data != nullptr) {
          float by[kPer];
          Unpack<T>(Row::template At<Reuse::kCached>(p.weight[side], 0, 0, vector), by);
#pragma unroll
          for (int k = 0; k < kPer; ++k) x[k] *= by[k];
        }
      }
      Turn<kTable>(turns, x);
      Row::Store(p.out[side], outer, row, vector, x);
    }
  }
};

// kLanes threads a token, kVectors vectors of q and of k each.
template <typename T, bool kNorm, TurnTable kTable, int kVectors, int kLanes, bool kOverlap>
__global__ void __launch_bounds__(kVectorThreads)
    LtxRopeTokens(const __grid_constant__ PlainRopeParams p) {
  constexpr int kGroups = kVectorThreads / kLanes;
  __shared__ float scratch[2][kVectorThreads / 32];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int64_t step = int64_t{gridDim.x} * kGroups;
  AwaitKernelAhead<kOverlap>();
  for (int64_t outer = blockIdx.y; outer < p.outer_rows; outer += gridDim.y) {
    for (int64_t first = int64_t{blockIdx.x} * kGroups; first < p.inner_rows; first += step) {
      const int64_t mine = first + static_cast<int>(threadIdx.x) / kLanes;
      const bool active = mine < p.inner_rows;
      const int64_t row = active ? mine : first;
      TokenPart<T, kNorm, kTable, kVectors, kLanes> part;
      part.Load(p, outer, row, lane);
      LetNextKernelBegin<kOverlap>();
      TokenAxes axes{};
      if constexpr (kTable == TurnTable::kFactored) axes = AxesOf(p, outer, row);
      float rstd[2] = {0, 0};
      part.Scales(p, lane, scratch, rstd);
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int vector = v * kLanes + lane;
        if (!active || vector >= p.vectors) continue;
        VectorTurns<kPerVector<T>> turns;
        LoadTurns<kTable>(p, axes, outer, row, vector, turns);
        part.Emit(p, outer, row, vector, v, turns, rstd);
      }
      if constexpr (kNorm && kLanes > 32) __syncthreads();  // the scratch has been read
    }
  }
}

inline PlainRopeParams PlainRopeOf(const LtxRopeParams& p) {
  PlainRopeParams plain{};
  for (int side = 0; side < p.sides; ++side) {
    plain.in[side] = PlainOf(p.shape, p.side[side].in);
    plain.out[side] = PlainOf(p.shape, p.side[side].out);
    plain.weight[side] = PlainOf(p.shape, p.side[side].weight);
  }
  plain.cos = PlainOf(p.shape, p.cos);
  plain.sin = PlainOf(p.shape, p.sin);
  plain.cos_sin = reinterpret_cast<const float2*>(p.cos_sin);
  plain.index = PlainOf(p.shape, p.index);
  plain.frequencies = p.frequencies;
  plain.outer_rows = p.shape.dims < 2 ? 1 : p.shape.sizes[0];
  plain.inner_rows = p.shape.dims < 2 ? p.shape.rows : p.shape.sizes[1];
  plain.vectors = static_cast<int32_t>(p.shape.width * DtypeSize(p.side[0].in.dtype) / 16);
  plain.sides = p.sides;
  plain.skipped = static_cast<int32_t>(p.shape.width % 6);
  plain.inverse_width = 1.0f / static_cast<float>(p.shape.width);
  plain.eps = p.eps;
  return plain;
}

template <typename T, bool kNorm, TurnTable kTable, bool kOverlap>
int32_t LaunchLtxRopeTyped(const PlainRopeParams& params, cudaStream_t stream) {
  const auto launch = [&](auto kernel, int64_t lanes) {
    const dim3 grid(GridFor(params.inner_rows, kVectorThreads / lanes),
                    static_cast<unsigned>(std::min<int64_t>(params.outer_rows, 65535)));
    return LaunchVectorKernel<kOverlap>(kernel, params, grid, stream);
  };
  if (params.vectors <= 32) return launch(LtxRopeTokens<T, kNorm, kTable, 1, 32, kOverlap>, 32);
  if (params.vectors <= 256) return launch(LtxRopeTokens<T, kNorm, kTable, 2, 128, kOverlap>, 128);
  if (params.vectors <= 512) return launch(LtxRopeTokens<T, kNorm, kTable, 4, 128, kOverlap>, 128);
  if (params.vectors <= 1024) return launch(LtxRopeTokens<T, kNorm, kTable, 8, 128, kOverlap>, 128);
  return cudaErrorInvalidValue;
}

template <typename T, bool kNorm, bool kOverlap>
int32_t LaunchLtxRopeTables(const LtxRopeParams& params, cudaStream_t stream) {
  const PlainRopeParams plain = PlainRopeOf(params);
  if (params.cos.data != nullptr) {
    return LaunchLtxRopeTyped<T, kNorm, TurnTable::kDense, kOverlap>(plain, stream);
  }
  if (params.cos_sin != nullptr) {
    return LaunchLtxRopeTyped<T, kNorm, TurnTable::kFactored, kOverlap>(plain, stream);
  }
  if constexpr (kNorm)
    return LaunchLtxRopeTyped<T, kNorm, TurnTable::kNone, kOverlap>(plain, stream);
  return cudaErrorInvalidValue;
}

template <bool kNorm, bool kOverlap>
int32_t LaunchLtxRopeVector(const LtxRopeParams& params, void* stream) {
  if (params.shape.rows == 0 || params.shape.width == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  return WithDeviceType(params.side[0].in.dtype, [&]<typename T>(T) {
    return LaunchLtxRopeTables<T, kNorm, kOverlap>(params, on);
  });
}

}  // namespace reel::kernels
