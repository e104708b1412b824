// SPDX-License-Identifier: Apache-2.0
// Loads the cosines and sines of a vector of channels, for ltx_rope_vector.cuh.
#pragma once

#include "kernels/ltx_rope/ltx_rope_launch.h"
#include "kernels/rows/plain_row.cuh"

namespace reel::kernels {

enum class TurnTable { kNone, kFactored, kDense };

struct PlainRopeParams {
  PlainOperand in[2], out[2], weight[2];  // q, k; an absent weight has null data
  PlainOperand cos, sin;                  // dense
  const float2* cos_sin;                  // factored
  PlainOperand index;
  int64_t frequencies;
  int32_t axes;
  int32_t half_vectors;  // of a split head's half
  int64_t outer_rows;
  int64_t inner_rows;
  int32_t vectors;
  int32_t sides;
  int32_t skipped;  // channels before the first rotated pair
  float inverse_width;
  float eps;
};

// cos and sin of each channel of a vector.
template <int kPer>
struct VectorTurns {
  float cos[kPer];
  float sin[kPer];
};

// The rows of the factored table that a token uses, one an axis.
struct TokenAxes {
  const float2* at[3];
};
__device__ inline TokenAxes AxesOf(const PlainRopeParams& p, int64_t outer, int64_t row) {
  const auto* index =
      reinterpret_cast<const int32_t*>(p.index.data + outer * p.index.outer + row * p.index.inner);
  return {{p.cos_sin + index[0] * p.frequencies, p.cos_sin + index[1] * p.frequencies,
           p.cos_sin + index[2] * p.frequencies}};
}

// Consecutive pairs change the axis first, then the frequency.
template <int kPer>
__device__ inline void FactoredTurns(const PlainRopeParams& p, const TokenAxes& axes, int vector,
                                     VectorTurns<kPer>& turns) {
  const int first = (vector * kPer - p.skipped) / 2;  // negative: not rotated
  const int frequency = (first + 3) / 3 - 1;
  const int axis = first - 3 * frequency;
  // The tables of the first three pairs, selected by register: an index would be local memory.
  const float2* a = axis == 0 ? axes.at[0] : (axis == 1 ? axes.at[1] : axes.at[2]);
  const float2* b = axis == 0 ? axes.at[1] : (axis == 1 ? axes.at[2] : axes.at[0] + 1);
  const float2* c = axis == 0 ? axes.at[2] : (axis == 1 ? axes.at[0] + 1 : axes.at[1] + 1);
  const float2* tables[4] = {a, b, c, a + 1};
#pragma unroll
  for (int k = 0; k < kPer / 2; ++k) {
    float2 turn = {1, 0};
    if (first + k >= 0) turn = tables[k][frequency];
    turns.cos[2 * k] = turns.cos[2 * k + 1] = turn.x;
    turns.sin[2 * k] = turns.sin[2 * k + 1] = turn.y;
  }
}

template <int kPer>
__device__ inline void DenseTurns(const PlainRopeParams& p, int64_t outer, int64_t row, int vector,
                                  VectorTurns<kPer>& turns) {
  const int64_t from = outer * p.cos.outer + row * p.cos.inner;
  LoadRun<float>(reinterpret_cast<const float*>(p.cos.data + from) + vector * kPer, turns.cos);
  const int64_t sine_from = outer * p.sin.outer + row * p.sin.inner;
  LoadRun<float>(reinterpret_cast<const float*>(p.sin.data + sine_from) + vector * kPer, turns.sin);
}

// None, factored or dense.
template <TurnTable kTable, int kPer>
__device__ inline void LoadTurns(const PlainRopeParams& p, const TokenAxes& axes, int64_t outer,
                                 int64_t row, int vector, VectorTurns<kPer>& turns) {
  if constexpr (kTable == TurnTable::kFactored) FactoredTurns(p, axes, vector, turns);
  if constexpr (kTable == TurnTable::kDense) DenseTurns(p, outer, row, vector, turns);
}
template <TurnTable kTable, int kPer>
__device__ inline void Turn(const VectorTurns<kPer>& turns, float (&x)[kPer]) {
  if constexpr (kTable != TurnTable::kNone) {
#pragma unroll
    for (int k = 0; k < kPer; k += 2) {
      const float a = x[k];
      const float b = x[k + 1];
      x[k] = a * turns.cos[k] - b * turns.sin[k];
      x[k + 1] = b * turns.cos[k + 1] + a * turns.sin[k + 1];
    }
  }
}

}  // namespace reel::kernels
