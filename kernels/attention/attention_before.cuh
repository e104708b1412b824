// SPDX-License-Identifier: Apache-2.0
// The earlier result of attention_rest's queries, in a warp's registers: one more score and one
// more value. NothingBefore, used without one, costs nothing. For .cu files of sm_80 and later.
#pragma once

#include "kernels/attention/attention_stage.cuh"
#include "kernels/mma/tensor_core.cuh"

namespace reel::kernels {

// The base-2 logarithms of their sums, which become the weights of their outputs so far.
template <int kTiles>
struct Before {
  float weights[kTiles][2];
};
struct NothingBefore {};

template <int kTiles>
__device__ inline void LoadBefore(const AttentionOperand& sums, const float* from, int left,
                                  Before<kTiles>& before) {
  const Lane lane = ThisLane();
#pragma unroll
  for (int r = 0; r < 2 * kTiles; ++r) {
    const bool there = static_cast<int>(8 * r + lane.row) < left;
    const float sum = there ? from[(8 * r + lane.row) * sums.strides[1]] : MinusInfinity();
    before.weights[r / 2][r % 2] = sum * kLog2E;
  }
}
template <int kTiles>
__device__ inline float ScoreOf(const Before<kTiles>& before, int t, int half) {
  return before.weights[t][half];
}
__device__ inline float ScoreOf(const NothingBefore&, int, int) { return MinusInfinity(); }

// The weight that counts in the sum.
template <int kTiles>
__device__ inline float WeightOf(Before<kTiles>& before, int t, int half, float less) {
  return before.weights[t][half] = Exp2(before.weights[t][half] + less);
}
__device__ inline float WeightOf(NothingBefore&, int, int, float) { return 0; }

// Adds the output so far, times its weight, to `values` of a row, 32 channels apart.
template <typename T, int kTiles>
__device__ inline void AddBefore(const Before<kTiles>& before, int t, int half, const T* from,
                                 float (&sum)[8][4]) {
  const float weight = before.weights[t][half];
  if (weight == 0) return;
#pragma unroll
  for (int g = 0; g < 2; ++g) {
    const uint4 vector = *reinterpret_cast<const uint4*>(from + 32 * g);
    const uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const float2 two = UnpackTwo<T>(words[u]);
      float* to = &sum[4 * g + u][2 * half];
      to[0] = fmaf(weight, two.x, to[0]);
      to[1] = fmaf(weight, two.y, to[1]);
    }
  }
}

}  // namespace reel::kernels
