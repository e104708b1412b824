// SPDX-License-Identifier: Apache-2.0
// Queries in e4m3 for attention_8_bits.cuh. For .cu files of sm_90a.
#pragma once

#include "kernels/attention/attention_8_bits.cuh"

namespace reel::kernels {

// The target for a query's largest channel: with keys of up to 16 scores stay within fp16.
inline constexpr float kLargestQuery = 16;

template <int kOfWidth>
struct QueriesInE4m3 {
  static constexpr int kWidth = kOfWidth, kParts = 1;
  using Tile = KeyTile<kWidth>;

  uint32_t words[kWidth / 32][4];
  float factor[2];

  template <typename T>
  __device__ void Load(const T* head, int64_t stride, int64_t first, int64_t last, float scale) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float x[Tile::kSpans][16];
      unsigned largest = 0;
#pragma unroll
      for (int span = 0; span < Tile::kSpans; ++span) {
        LoadChannels(head + min(first + 8 * r, last) * stride + span * kSpanChannels, x[span]);
        largest = max(largest, LargestOf(x[span]));
      }
      largest = LargestOfRow(largest);
      const bool finite = largest < 0x7f800000u;
      const float most = finite ? fmaxf(__uint_as_float(largest), 0x1p-60f) : 1.0f;
      factor[r] = finite ? most * (scale * kLog2E / kLargestQuery) : __uint_as_float(~0u);
#pragma unroll
      for (int i = 0; i < kWidth / 32; ++i) {
#pragma unroll
        for (int part = 0; part < 2; ++part) {
          const float* const four = x[i / 2] + 8 * (i % 2) + 4 * part;
          const float times = kLargestQuery / most;
          words[i][2 * part + r] =
              FourE4m3(four[0] * times, four[1] * times, four[2] * times, four[3] * times);
        }
      }
    }
  }
  template <int kPart>
  __device__ void Multiply(uint32_t tile, uint32_t (&scores)[32]) const {
#pragma unroll
    for (int i = 0; i < kWidth / 32; ++i) {
      MultiplyTo128(scores, words[i], WarpgroupMatrix(tile + Tile::KeysOf(i), Tile::kKeyStep),
                    i > 0);
    }
  }
  template <int kPart>
  __device__ void Take(uint32_t (&)[32]) const {}

  __device__ static __half2 Steepness(float first, float second) {
    return __floats2half2_rn(first, second);
  }
  __device__ static __half2 Exponents(__half2 scores, __half2 steepness, __half2 added) {
    return __hfma2(scores, steepness, added);
  }
  __device__ static CodeLine LineOf(__half2 steepness, __half2 added) {
    return {steepness, __hadd2(added, __float2half2_rn(kCodesFrom))};
  }
  __device__ static __half2 Codes(__half2 scores, const CodeLine& line) {
    return __hmax2(__hfma2(scores, line.times, line.plus), __float2half2_rn(kCodesFrom));
  }

 private:
  // From here to 256 the last bit of a number is an eighth, so code c is c / 8 above it.
  static constexpr float kCodesFrom = 128;
};

}  // namespace reel::kernels
