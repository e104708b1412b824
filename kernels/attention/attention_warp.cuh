// SPDX-License-Identifier: Apache-2.0
// A warp's part of cross_attention: scores, softmax and weighted sums, all in its registers. For
// .cu files of sm_80 and later.
#pragma once

#include "kernels/attention/attention_before.cuh"
#include "kernels/attention/attention_stage.cuh"
#include "kernels/mma/shared_memory.cuh"
#include "kernels/mma/tensor_core.cuh"

namespace reel::kernels {

// Scores are shifted so that a row's largest weight is 1; in fp16 2^15, which keeps the bits of
// small weights, as long as fp32 resolves such steps.
template <typename T>
__device__ inline float LessFor(float largest) {
  if (largest == MinusInfinity()) return 0;
  constexpr float kExponent = std::is_same_v<T, __half> ? 15.0f : 0.0f;
  return fabsf(largest) < 1048576.0f ? kExponent - largest : -largest;
}

// Applies to the first kUsed keys, like everything below.
template <int kTiles, int kUsed>
using Scores = float[kTiles][kUsed / 8][4];

// The order of channels in a product is free, so a lane's vector of 8 serves two products of 16.
template <typename T, int kTiles, int kWidth, int kUsed>
__device__ inline void Multiply(const Queries<kTiles, kWidth>& queries, const uint4* keys,
                                Scores<kTiles, kUsed>& scores) {
  const Lane lane = ThisLane();
  // Every second vector is at a constant distance.
  const uint4* at[2] = {keys + KeyVector<kWidth>(lane.row, lane.column),
                        keys + KeyVector<kWidth>(lane.row, 4 + lane.column)};
#pragma unroll
  for (int n = 0; n < kUsed / 8; n += 2) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int i = 0; i < 4; ++i) scores[t][n][i] = scores[t][n + 1][i] = 0;
    }
#pragma unroll
    for (int j = 0; j < kWidth / 32; ++j) {
      const uint4 key = at[j % 2][n * kWidth + j / 2 * 8];
      const uint4 next = at[j % 2][(n + 1) * kWidth + j / 2 * 8];
#pragma unroll
      for (int t = 0; t < kTiles; ++t) {
        const uint4 &a = queries.vectors[t][0][j], &b = queries.vectors[t][1][j];
        MultiplyAdd<T>(scores[t][n], {a.x, b.x, a.y, b.y}, key.x, key.y);
        MultiplyAdd<T>(scores[t][n + 1], {a.x, b.x, a.y, b.y}, next.x, next.y);
      }
#pragma unroll
      for (int t = 0; t < kTiles; ++t) {
        const uint4 &a = queries.vectors[t][0][j], &b = queries.vectors[t][1][j];
        MultiplyAdd<T>(scores[t][n], {a.z, b.z, a.w, b.w}, key.z, key.w);
        MultiplyAdd<T>(scores[t][n + 1], {a.z, b.z, a.w, b.w}, next.z, next.w);
      }
    }
  }
}

// Adds factors and biases to the scores of a head.
template <typename T>
struct ScoreTerms {
  const AttentionParams& p;
  HeadBias<T> bias;
  const float* shared_bias;
  const float* q_scale;  // of the batch; may be null
  unsigned keys;
};

// The factors of a lane's two rows.
template <typename T, int kTiles>
__device__ inline void RowFactors(const ScoreTerms<T>& terms, int64_t first, int left,
                                  float (&factors)[2 * kTiles]) {
  const Lane lane = ThisLane();
#pragma unroll
  for (int r = 0; r < 2 * kTiles; ++r) {
    factors[r] = terms.p.scale * kLog2E;
    if (terms.q_scale == nullptr || static_cast<int>(8 * r + lane.row) >= left) continue;
    factors[r] *= terms.q_scale[(first + 8 * r + lane.row) * terms.p.q_scale.strides[1]];
  }
}

// One bias for all rows of the head.
template <typename T, int kTiles, int kUsed>
__device__ inline void AddHeadBias(const ScoreTerms<T>& terms, const float (&factors)[2 * kTiles],
                                   Scores<kTiles, kUsed>& scores) {
  const Lane lane = ThisLane();
#pragma unroll
  for (int n = 0; n < kUsed / 8; ++n) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float bias = terms.shared_bias[8 * n + 2 * lane.column + i];
#pragma unroll
      for (int r = 0; r < 2 * kTiles; ++r) {
        float& score = scores[r / 2][n][2 * (r % 2) + i];
        score = fmaf(score, factors[r], bias);
      }
    }
  }
}

// A bias for each row.
template <typename T, int kTiles, int kUsed>
__device__ inline void AddRowBias(const ScoreTerms<T>& terms, int64_t first, int left,
                                  const float (&factors)[2 * kTiles],
                                  Scores<kTiles, kUsed>& scores) {
  const Lane lane = ThisLane();
#pragma unroll
  for (int r = 0; r < 2 * kTiles; ++r) {
    const bool there = static_cast<int>(8 * r + lane.row) < left;
#pragma unroll
    for (int n = 0; n < kUsed / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const unsigned key = 8 * n + 2 * lane.column + i;
        float bias = 0;
        if (there && key < terms.keys) bias = terms.bias.At(first + 8 * r + lane.row, key);
        float& score = scores[r / 2][n][2 * (r % 2) + i];
        score = fmaf(score, factors[r], bias);
      }
    }
  }
}

// Minus infinity past the last key, whatever the product with zeros is.
template <int kTiles, int kUsed>
__device__ inline void LeaveOut(unsigned keys, Scores<kTiles, kUsed>& scores) {
  if (keys == kUsed) return;
  const Lane lane = ThisLane();
#pragma unroll
  for (int n = 0; n < kUsed / 8; ++n) {
#pragma unroll
    for (int i = 0; i < 4 * kTiles; ++i) {
      if (8 * n + 2 * lane.column + i % 2 >= keys) scores[i / 4][n][i % 4] = MinusInfinity();
    }
  }
}

// Reduces over the four lanes of a row.
__device__ inline float RowMax(float value) {
  value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 1));
  return fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 2));
}
__device__ inline float RowSum(float value) {
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  return value + __shfl_xor_sync(0xffffffffu, value, 2);
}

// In the layout of the second product: 16 keys at a time, rows and columns as in MultiplyAdd's a.
template <int kTiles, int kUsed>
using Weights = uint32_t[kTiles][kUsed / 16][4];
template <int kTiles>
using Sums = float[kTiles][2];

// The maximum ignores a NaN; its exponential brings it back.
template <typename T, int kTiles, int kUsed, typename BeforeT>
__device__ inline void Softmax(const Scores<kTiles, kUsed>& scores, Weights<kTiles, kUsed>& weights,
                               BeforeT& before, Sums<kTiles>& sums) {
#pragma unroll
  for (int r = 0; r < 2 * kTiles; ++r) {
    const int t = r / 2, half = r % 2;
    float largest = ScoreOf(before, t, half);
#pragma unroll
    for (int n = 0; n < kUsed / 8; ++n) {
      largest = fmaxf(largest, fmaxf(scores[t][n][2 * half], scores[t][n][2 * half + 1]));
    }
    largest = RowMax(largest);
    const float less = LessFor<T>(largest);
    float sum = 0;
#pragma unroll
    for (int n = 0; n < kUsed / 8; ++n) {
      const float low = Exp2(scores[t][n][2 * half] + less);
      const float high = Exp2(scores[t][n][2 * half + 1] + less);
      sum += low + high;
      weights[t][n / 2][n % 2 * 2 + half] = PackTwo<T>(low, high);
    }
    sums[t][half] = RowSum(sum) + WeightOf(before, t, half, less);
  }
}

// The addresses of a warp's rows of outputs.
template <typename T>
struct OutputRows {
  T* out;
  int64_t stride;
  const T* before;  // may be `out`
  int64_t before_stride;
  int left;
};

// Divides 64 channels from `part` * 64 on by the sums, and stores them.
template <typename T, int kWidth, int kTiles, int kUsed, typename BeforeT>
__device__ inline void MultiplyAndStore(const Weights<kTiles, kUsed>& weights,
                                        const BeforeT& before, const Sums<kTiles>& sums,
                                        const uint4* values, int part, const OutputRows<T>& rows) {
  float sum[kTiles][8][4] = {};
  const unsigned in_warp = threadIdx.x % 32;
  const uint4* at[4];
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    at[u] = values + ValueVector<kWidth>(in_warp % 16, 2 * u + in_warp / 16) + 8 * part;
  }
#pragma unroll
  for (int k = 0; k < kUsed / 16; ++k) {
#pragma unroll
    for (int u = 0; u < 8; u += 2) {
      uint32_t b[4];
      LoadTransposed(b, SharedAddress(at[u / 2] + 2 * k * kWidth));
#pragma unroll
      for (int t = 0; t < kTiles; ++t) {
        MultiplyAdd<T>(sum[t][u], weights[t][k], b[0], b[1]);
        MultiplyAdd<T>(sum[t][u + 1], weights[t][k], b[2], b[3]);
      }
    }
  }
  const Lane lane = ThisLane();
  const int channel = 64 * part + 8 * static_cast<int>(lane.column);
  T* row = rows.out + lane.row * rows.stride + channel;
#pragma unroll
  for (int r = 0; r < 2 * kTiles; ++r, row += 8 * rows.stride) {
    const int t = r / 2, half = r % 2;
    if (static_cast<int>(8 * r + lane.row) >= rows.left) continue;
    if constexpr (!std::is_same_v<BeforeT, NothingBefore>) {
      AddBefore<T>(before, t, half, rows.before + (8 * r + lane.row) * rows.before_stride + channel,
                   sum[t]);
    }
    const float by = sums[t][half] == 0 ? 0 : 1.0f / sums[t][half];
#pragma unroll
    for (int g = 0; g < 2; ++g) {
      uint32_t words[4];
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const float* two = &sum[t][4 * g + u][2 * half];
        words[u] = PackTwo<T>(two[0] * by, two[1] * by);
      }
      *reinterpret_cast<uint4*>(row + 32 * g) = {words[0], words[1], words[2], words[3]};
    }
  }
}

}  // namespace reel::kernels
