// SPDX-License-Identifier: Apache-2.0
// ltx_rope and qk_norm_rope of split heads for rows of 16-byte vectors; formula and table in
// ltx_rope.h.
//
// A thread has a vector of a head's first half and the one of the second half that it is paired
// with, of q and of k. All its loads are on their way before the norm's barrier, so that a token of
// width 4096 has 256 threads rather than more registers. Writing in place is safe. Bound by memory.
#pragma once

#include "kernels/ltx_rope/ltx_rope_turns.cuh"
#include "kernels/rows/vector_rows.cuh"

namespace reel::kernels {

// cos and sin of kPer pairs, from pair run * kPer on.
template <int kPer>
__device__ inline void SplitTurns(const PlainRopeParams& p, const int32_t* index, int run,
                                  VectorTurns<kPer>& turns) {
  const int first = run * kPer - p.skipped / 2;  // negative: not rotated
  // The tables of the first three angles. Axes are selected by register, as in FactoredTurns.
  const float2 *a, *b, *c;
  int next;  // entries from an angle to the third behind it
  if (p.axes == 1) {
    a = p.cos_sin + index[0] * p.frequencies + first;
    b = a + 1;
    c = a + 2;
    next = 3;
  } else {
    const int frequency = (first + 3) / 3 - 1;
    const int axis = first - 3 * frequency;
    const float2* t = p.cos_sin + index[0] * p.frequencies + frequency;
    const float2* y = p.cos_sin + index[1] * p.frequencies + frequency;
    const float2* x = p.cos_sin + index[2] * p.frequencies + frequency;
    a = axis == 0 ? t : (axis == 1 ? y : x);
    b = axis == 0 ? y : (axis == 1 ? x : t + 1);
    c = axis == 0 ? x : (axis == 1 ? t + 1 : y + 1);
    next = 1;
  }
#pragma unroll
  for (int k = 0; k < kPer; ++k) {
    float2 turn = {1, 0};
    const float2* table = k % 3 == 0 ? a : (k % 3 == 1 ? b : c);
    if (first + k >= 0) turn = table[k / 3 * next];
    turns.cos[k] = turn.x;
    turns.sin[k] = turn.y;
  }
}

// The vectors of a run of pairs.
struct SplitPlace {
  int at[2];
};
__device__ inline SplitPlace SplitPlaceOf(const PlainRopeParams& p, int run) {
  const int first = run + run / p.half_vectors * p.half_vectors;
  return {{first, first + p.half_vectors}};
}

// A run of pairs of q and of k.
template <typename T, bool kNorm>
struct SplitRun {
  static constexpr int kPer = kPerVector<T>;
  using Row = PlainRow<T, 0, 1, 32>;
  uint4 raw[2][2];     // of sides and halves
  uint4 weight[2][2];  // where there is one

  __device__ void Load(const PlainRopeParams& p, int64_t outer, int64_t row,
                       const SplitPlace& place) {
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      if (side >= p.sides) continue;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        raw[side][half] =
            Row::template At<Reuse::kStreamed>(p.in[side], outer, row, place.at[half]);
      }
    }
  }
  __device__ void LoadWeights(const PlainRopeParams& p, const SplitPlace& place) {
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      if (side >= p.sides || p.weight[side].data == nullptr) continue;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        weight[side][half] = Row::template At<Reuse::kCached>(p.weight[side], 0, 0, place.at[half]);
      }
    }
  }

  __device__ void AddSquares(const PlainRopeParams& p, float (&sums)[2]) const {
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      if (side >= p.sides) continue;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float x[kPer];
        Unpack<T>(raw[side][half], x);
#pragma unroll
        for (int k = 0; k < kPer; ++k) sums[side] += x[k] * x[k];
      }
    }
  }

  // `sums` are those of the whole token.
  __device__ void Emit(const PlainRopeParams& p, int64_t outer, int64_t row,
                       const SplitPlace& place, const VectorTurns<kPer>& turns,
                       const float (&sums)[2]) const {
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      if (side >= p.sides) continue;
      float x[2][kPer];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        Unpack<T>(raw[side][half], x[half]);
        if constexpr (!kNorm) continue;
        const float rstd = rsqrtf(sums[side] * p.inverse_width + p.eps);
#pragma unroll
        for (int k = 0; k < kPer; ++k) x[half][k] *= rstd;
        if (p.weight[side].data == nullptr) continue;
        float by[kPer];
        Unpack<T>(weight[side][half], by);
#pragma unroll
        for (int k = 0; k < kPer; ++k) x[half][k] *= by[k];
      }
#pragma unroll
      for (int k = 0; k < kPer; ++k) {
        const float a = x[0][k], b = x[1][k];
        x[0][k] = a * turns.cos[k] - b * turns.sin[k];
        x[1][k] = b * turns.cos[k] + a * turns.sin[k];
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        Row::Store(p.out[side], outer, row, place.at[half], x[half]);
      }
    }
  }
};

// kLanes threads a token, kRuns runs of pairs each.
template <typename T, bool kNorm, int kRuns, int kLanes, bool kOverlap>
__global__ void __launch_bounds__(kPlainThreads<kLanes>)
    SplitRopeTokens(const __grid_constant__ PlainRopeParams p) {
  constexpr int kGroups = kPlainThreads<kLanes> / kLanes;
  __shared__ float scratch[2 * kPlainThreads<kLanes> / 32];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int64_t step = int64_t{gridDim.x} * kGroups;
  AwaitKernelAhead<kOverlap>();
  for (int64_t outer = blockIdx.y; outer < p.outer_rows; outer += gridDim.y) {
    for (int64_t first = int64_t{blockIdx.x} * kGroups; first < p.inner_rows; first += step) {
      const int64_t mine = first + static_cast<int>(threadIdx.x) / kLanes;
      const bool active = mine < p.inner_rows;
      const int64_t row = active ? mine : first;
      const auto* index = reinterpret_cast<const int32_t*>(p.index.data + outer * p.index.outer +
                                                           row * p.index.inner);
      SplitRun<T, kNorm> runs[kRuns];
      SplitPlace places[kRuns];
      VectorTurns<kPerVector<T>> turns[kRuns];
#pragma unroll
      for (int r = 0; r < kRuns; ++r) {
        if (r * kLanes + lane >= p.vectors / 2) continue;
        places[r] = SplitPlaceOf(p, r * kLanes + lane);
        runs[r].Load(p, outer, row, places[r]);
      }
      LetNextKernelBegin<kOverlap>();
#pragma unroll
      for (int r = 0; r < kRuns; ++r) {
        if (r * kLanes + lane >= p.vectors / 2) continue;
        SplitTurns(p, index, r * kLanes + lane, turns[r]);
        if constexpr (kNorm) runs[r].LoadWeights(p, places[r]);
      }
      float sums[2] = {0, 0};
      if constexpr (kNorm) {
#pragma unroll
        for (int r = 0; r < kRuns; ++r) {
          if (r * kLanes + lane < p.vectors / 2) runs[r].AddSquares(p, sums);
        }
        GroupSums<kLanes>(sums, scratch);
      }
#pragma unroll
      for (int r = 0; r < kRuns; ++r) {
        if (!active || r * kLanes + lane >= p.vectors / 2) continue;
        runs[r].Emit(p, outer, row, places[r], turns[r], sums);
      }
      if constexpr (kNorm && kLanes > 32) {
        // The scratch of the previous reduction has been read.
        if (first + step < p.inner_rows || outer + gridDim.y < p.outer_rows) __syncthreads();
      }
    }
  }
}

template <typename T, bool kNorm, bool kOverlap>
int32_t LaunchSplitRope(const PlainRopeParams& params, cudaStream_t stream) {
  const auto launch = [&]<int kRuns, int kLanes>() {
    constexpr int kThreads = kPlainThreads<kLanes>;
    const dim3 grid(GridFor(params.inner_rows, kThreads / kLanes),
                    static_cast<unsigned>(std::min<int64_t>(params.outer_rows, 65535)));
    return LaunchVectorKernel<kOverlap>(SplitRopeTokens<T, kNorm, kRuns, kLanes, kOverlap>, params,
                                        grid, stream, kThreads);
  };
  if (params.vectors <= 64) return launch.template operator()<1, 32>();
  if (params.vectors <= 256) return launch.template operator()<1, 128>();
  if (params.vectors <= 512) return launch.template operator()<1, 256>();
  if (params.vectors <= 1024) return launch.template operator()<2, 256>();
  return cudaErrorInvalidValue;
}

}  // namespace reel::kernels
