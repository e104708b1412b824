// SPDX-License-Identifier: Apache-2.0
// ltx_rope and qk_norm_rope for rows of 16-byte vectors; formula and table in ltx_rope.h.
//
// q and k of a token are held in registers together, so that its cosines and sines are fetched
// once. The factored table (128 KB for 2,688 tokens of width 2048) stays in the caches. A pair of
// channels is one thread's, so writing in place is safe. Bound by memory: q and k are read and
// written once.
#pragma once

#include "kernels/ltx_rope/ltx_rope_split.cuh"
#include "kernels/ltx_rope/ltx_rope_turns.cuh"
#include "kernels/rows/vector_rows.cuh"

namespace reel::kernels {

template <typename T>
__device__ inline float SquaresOf(const uint4& raw) {
  float x[kPerVector<T>];
  Unpack<T>(raw, x);
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kPerVector<T>; ++k) sum += x[k] * x[k];
  return sum;
}

// The norm's weights for a vector of q and one of k.
struct SideWeights {
  uint4 of[2];
};
template <typename T>
__device__ inline SideWeights WeightsOf(const PlainRopeParams& p, int vector) {
  SideWeights weights{};
#pragma unroll
  for (int side = 0; side < 2; ++side) {
    if (side >= p.sides || p.weight[side].data == nullptr) continue;
    weights.of[side] =
        Load16<Reuse::kCached>(reinterpret_cast<const uint4*>(p.weight[side].data) + vector);
  }
  return weights;
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

  // This thread's part of the sums of squares.
  __device__ void Squares(const PlainRopeParams& p, int lane, float (&sums)[2]) const {
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      sums[side] = 0;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        if (side >= p.sides || v * kLanes + lane >= p.vectors) continue;
        sums[side] += SquaresOf<T>(raw[side][v]);
      }
    }
  }

  // Vector v of both sides; `sums` are those of the whole token.
  __device__ void Emit(const PlainRopeParams& p, int64_t outer, int64_t row, int vector, int v,
                       const VectorTurns<kPer>& turns, const float (&sums)[2],
                       const SideWeights& weights) const {
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      if (side >= p.sides) continue;
      float x[kPer];
      Unpack<T>(raw[side][v], x);
      if constexpr (kNorm) {
        const float rstd = rsqrtf(sums[side] * p.inverse_width + p.eps);
#pragma unroll
        for (int k = 0; k < kPer; ++k) x[k] *= rstd;
        if (p.weight[side].data != nullptr) {
          float by[kPer];
          Unpack<T>(weights.of[side], by);
#pragma unroll
          for (int k = 0; k < kPer; ++k) x[k] *= by[k];
        }
      }
      Turn<kTable>(turns, x);
      Row::Store(p.out[side], outer, row, vector, x);
    }
  }
};

// The least number of blocks of a multiprocessor; 0: no request. With early cosines and sines a
// thread would take more registers than that is worth. Those of a dense table would spill.
template <TurnTable kTable, int kVectors>
inline constexpr int kRopeBlocks = kVectors <= 2 && kTable != TurnTable::kDense ? 7 : 0;

// kLanes threads a token, kVectors vectors of q and of k each. With few vectors the cosines and
// sines are loaded while the norm waits for q and k.
template <typename T, bool kNorm, TurnTable kTable, int kVectors, int kLanes, bool kOverlap>
__global__ void __launch_bounds__(kVectorThreads, kRopeBlocks<kTable, kVectors>)
    LtxRopeTokens(const __grid_constant__ PlainRopeParams p) {
  constexpr int kGroups = kVectorThreads / kLanes;
  constexpr bool kEarly = kVectors <= 2;
  constexpr bool kEarlyWeights = kNorm && kEarly && kTable == TurnTable::kDense;
  __shared__ float scratch[2 * kVectorThreads / 32];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int64_t step = int64_t{gridDim.x} * kGroups;
  AwaitKernelAhead<kOverlap>();
  for (int64_t outer = blockIdx.y; outer < p.outer_rows; outer += gridDim.y) {
    for (int64_t first = int64_t{blockIdx.x} * kGroups; first < p.inner_rows; first += step) {
      const int64_t mine = first + static_cast<int>(threadIdx.x) / kLanes;
      const bool active = mine < p.inner_rows;
      const int64_t row = active ? mine : first;
      TokenAxes axes{};
      if constexpr (kTable == TurnTable::kFactored) axes = AxesOf(p, outer, row);
      TokenPart<T, kNorm, kTable, kVectors, kLanes> part;
      part.Load(p, outer, row, lane);
      LetNextKernelBegin<kOverlap>();
      VectorTurns<kPerVector<T>> turns[kEarly ? kVectors : 1];
      SideWeights weights[kEarlyWeights ? kVectors : 1];
      if constexpr (kEarly) {
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          const int vector = v * kLanes + lane;
          if (vector >= p.vectors) continue;
          if constexpr (kEarlyWeights) weights[v] = WeightsOf<T>(p, vector);
          LoadTurns<kTable>(p, axes, outer, row, vector, turns[v]);
        }
      }
      float sums[2];
      if constexpr (kNorm) {
        part.Squares(p, lane, sums);
        GroupSums<kLanes>(sums, scratch);
      }
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int vector = v * kLanes + lane;
        if (!active || vector >= p.vectors) continue;
        if constexpr (!kEarly) LoadTurns<kTable>(p, axes, outer, row, vector, turns[0]);
        if constexpr (kNorm && !kEarlyWeights) weights[0] = WeightsOf<T>(p, vector);
        part.Emit(p, outer, row, vector, v, turns[kEarly ? v : 0], sums,
                  weights[kEarlyWeights ? v : 0]);
      }
      if constexpr (kNorm && kLanes > 32) {
        // The scratch of the previous reduction has been read.
        if (first + step < p.inner_rows || outer + gridDim.y < p.outer_rows) __syncthreads();
      }
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
  plain.axes = p.axes;
  plain.half_vectors = static_cast<int32_t>(p.half * DtypeSize(p.side[0].in.dtype) / 16);
  plain.outer_rows = p.shape.dims < 2 ? 1 : p.shape.sizes[0];
  plain.inner_rows = p.shape.dims < 2 ? p.shape.rows : p.shape.sizes[1];
  plain.vectors = static_cast<int32_t>(p.shape.width * DtypeSize(p.side[0].in.dtype) / 16);
  plain.sides = p.sides;
  plain.skipped = static_cast<int32_t>(2 * UnturnedPairs(p));
  plain.inverse_width = 1.0f / static_cast<float>(p.shape.width);
  plain.eps = p.eps;
  return plain;
}

template <typename T, bool kNorm, TurnTable kTable, bool kOverlap>
int32_t LaunchLtxRopeTyped(const PlainRopeParams& params, cudaStream_t stream) {
  const auto launch = [&]<int kVectors, int kLanes>() {
    const dim3 grid(GridFor(params.inner_rows, kVectorThreads / kLanes),
                    static_cast<unsigned>(std::min<int64_t>(params.outer_rows, 65535)));
    return LaunchVectorKernel<kOverlap>(LtxRopeTokens<T, kNorm, kTable, kVectors, kLanes, kOverlap>,
                                        params, grid, stream);
  };
  if (params.vectors <= 32) return launch.template operator()<1, 32>();
  if (params.vectors <= 256) return launch.template operator()<2, 128>();
  if (params.vectors <= 512) return launch.template operator()<4, 128>();
  if (params.vectors <= 1024) return launch.template operator()<8, 128>();
  return cudaErrorInvalidValue;
}

template <typename T, bool kNorm, bool kOverlap>
int32_t LaunchLtxRopeTables(const LtxRopeParams& params, cudaStream_t stream) {
  const PlainRopeParams plain = PlainRopeOf(params);
  if (params.half > 0) return LaunchSplitRope<T, kNorm, kOverlap>(plain, stream);
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
