// SPDX-License-Identifier: Apache-2.0
// Loads the vectors beside plain_norm.cuh's rows, and computes the rows' statistics. For .cu files.
#pragma once

#include "kernels/rows/plain_row.cuh"
#include "kernels/rows/vector_rows.cuh"

namespace reel::kernels {

// For kRows rows at once, with one barrier for all.
template <Statistic kStatistic, int kLanes, typename Row, int kRows>
__device__ inline void PlainStatistics(const PlainNormParams& p, const Row (&rows)[kRows], int lane,
                                       float (*scratch)[kRows * kPlainThreads<kLanes> / 32],
                                       RowStatistics (&statistics)[kRows]) {
#pragma unroll
  for (int r = 0; r < kRows; ++r) statistics[r].mean = 0;
  float sums[kRows];
  if constexpr (kStatistic == Statistic::kVariance) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      sums[r] = rows[r].Sum(p.vectors, lane, [](float value) { return value; });
    }
    GroupSums<kLanes>(sums, scratch[0]);
#pragma unroll
    for (int r = 0; r < kRows; ++r) statistics[r].mean = sums[r] * p.inverse_width;
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float mean = statistics[r].mean;
    sums[r] = rows[r].Sum(p.vectors, lane, [mean](float value) {
      return kStatistic == Statistic::kVariance ? (value - mean) * (value - mean) : value * value;
    });
  }
  GroupSums<kLanes>(sums, scratch[1]);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    statistics[r].rstd = rsqrtf(sums[r] * p.inverse_width + p.eps);
  }
}

// The vectors beside kRows rows. If they are few, all are loaded before the statistic, once if the
// rows share them; otherwise one ahead of its use.
template <typename Row, int kVectors, int kLanes, int kRows, bool kShared, bool kEarly>
struct BesideRows {
  typename Row::Beside all[kShared ? 1 : kRows][kEarly ? kVectors : 1];

  __device__ void Load(const PlainNormParams& p, const PlainPlace (&at)[kRows], int lane) {
#pragma unroll
    for (int r = 0; r < (kShared ? 1 : kRows); ++r) {
#pragma unroll
      for (int v = 0; v < (kEarly ? kVectors : 1); ++v) {
        all[r][v] = Row::LoadBeside(p, at[r], v * kLanes + lane);
      }
    }
  }
  // Vector v of row r; each is requested once, in order.
  __device__ typename Row::Beside Take(const PlainNormParams& p, const PlainPlace (&at)[kRows],
                                       int r, int v, int lane) {
    const int from = kShared ? 0 : r;
    if constexpr (kEarly) return all[from][v];
    const auto beside = all[from][0];
    if (v + 1 < kVectors) {
      all[from][0] = Row::LoadBeside(p, at[r], (v + 1) * kLanes + lane);
    }
    return beside;
  }
};

}  // namespace reel::kernels
