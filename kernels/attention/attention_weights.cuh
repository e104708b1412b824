// SPDX-License-Identifier: Apache-2.0
// Turns scores into weights and keeps the sums over all tiles, in a warp's registers, for
// attention_8_bits.cuh. For .cu files of sm_90a.
//
// Exponentials would bound attention in 8 bits: at sixteen a clock and multiprocessor they take 89
// ms of a step of 13,376 tokens, twice as long as the products. But a weight needs four bits, and
// the e4m3 code of 2^x is nearly 8 (x + 7), since its mantissa is nearly linear. So one
// multiplication and addition leaves the codes of two scores in the low bits of fp16 numbers.
// Weights are 4.1 % too large in the mean, as is their sum, and deviate by 3.1 % from that mean;
// codes of exact weights would deviate by 2.65 %.
#pragma once

#include <cuda_fp16.h>

#include "kernels/attention/tile_layout.h"
#include "kernels/mma/tensor_core.cuh"

namespace reel::kernels {

// The largest weight is 2^8, so codes begin at 2^-7.
inline constexpr float kLargestExponent = 8 + 7;

__device__ inline __half2 Halves(uint32_t word) { return reinterpret_cast<const __half2&>(word); }
__device__ inline uint32_t Word(__half2 halves) {
  return reinterpret_cast<const uint32_t&>(halves);
}

// The maxima of the two rows, the first in the low half.
__device__ inline __half2 LargestScores(const uint32_t (&scores)[32]) {
  __half2 most[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    most[r] = __hmax2(Halves(scores[r]), Halves(scores[2 + r]));
    // The compiler makes one instruction of three.
#pragma unroll
    for (int j = 2; j < 16; j += 2) {
      most[r] = __hmax2(__hmax2(most[r], Halves(scores[2 * j + r])), Halves(scores[2 * j + 2 + r]));
    }
  }
  __half2 both = __hmax2(__lows2half2(most[0], most[1]), __highs2half2(most[0], most[1]));
  both = __hmax2(both, Halves(__shfl_xor_sync(0xffffffffu, Word(both), 1)));
  return __hmax2(both, Halves(__shfl_xor_sync(0xffffffffu, Word(both), 2)));
}

// Parameters of the line that maps scores to numbers whose low bytes are the codes of their
// weights.
struct CodeLine {
  __half2 times, plus;
};

// Turns scores into weights, with a reference for each of the two rows: a whole number that no
// exponent so far exceeds.
template <typename Queries>
class Weights {
 public:
  // `words` are the operand of the product with values; factors() rescale earlier sums to the new
  // reference. A row of NaN gets weights of 0, and so a sum of 0.
  __device__ void Make(const uint32_t (&scores)[32], const float (&factor)[2],
                       const TileFactors& tile, uint32_t (&words)[16]) {
    const __half2 steepness =
        Queries::Steepness(factor[0] * tile.key_factor, factor[1] * tile.key_factor);
    const __half2 exponent = __float2half2_rn(tile.value_exponent);
    const __half2 most = Queries::Exponents(LargestScores(scores), steepness, exponent);
    // Above 1,024 fp16 has no halves, and above 2,048 not every whole number: add the largest
    // rounding error.
    const __half2 above = __hfma2(__habs2(most), __float2half2_rn(0x1p-10f), most);
    const __half2 reference = __hmax2(reference_, h2ceil(above));
    factors_ = __half22float2(h2exp2(__hsub2(reference_, reference)));
    reference_ = reference;
    const __half2 added = __hadd2(__hsub2(exponent, reference), __float2half2_rn(kLargestExponent));
    const CodeLine lines = Queries::LineOf(steepness, added);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const CodeLine line = {r == 0 ? __low2half2(lines.times) : __high2half2(lines.times),
                             r == 0 ? __low2half2(lines.plus) : __high2half2(lines.plus)};
      const auto codes = [&](uint32_t scores) {
        return Word(Queries::Codes(Halves(scores), line));
      };
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        words[2 * j + r] =
            __byte_perm(codes(scores[4 * j + r]), codes(scores[4 * j + 2 + r]), 0x6420);
      }
    }
  }
  __device__ const float2& factors() const { return factors_; }

 private:
  __half2 reference_ = __half2half2(__ushort_as_half(0xfc00));  // minus infinity
  float2 factors_;
};

// The accumulated products of tiles, by spans of 64 channels: of every 8 channels j two for each
// row. After the last span's comes the sum of the weights, on the first lane of four.
template <int kSpans>
struct Outputs {
  float sums[kSpans][36] = {};

  template <int kSpan>
  __device__ void Add(const float (&products)[36], const float2& factors) {
#pragma unroll
    for (int i = 0; i < 36; ++i) {
      if (i > 32 && i % 2 == 1) continue;  // only the sums of the weights are used
      if (i >= 32 && kSpan < kSpans - 1) continue;
      sums[kSpan][i] = fmaf(sums[kSpan][i], i % 4 < 2 ? factors.x : factors.y, products[i]);
    }
  }

  template <typename T>
  __device__ void Store(int row, T* out) const {
    const float sum =
        __shfl_sync(0xffffffffu, sums[kSpans - 1][32 + 2 * row], threadIdx.x % 32 & ~3u);
    const float inverse = 1.0f / sum;
    if (out == nullptr) return;
#pragma unroll
    for (int span = 0; span < kSpans; ++span) {
      uint32_t words[8];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        words[j] = PackTwo<T>(sums[span][4 * j + 2 * row] * inverse,
                              sums[span][4 * j + 2 * row + 1] * inverse);
      }
      auto* const to = reinterpret_cast<uint4*>(out + span * kSpanChannels);
      to[0] = {words[0], words[1], words[2], words[3]};
      to[1] = {words[4], words[5], words[6], words[7]};
    }
  }
};

}  // namespace reel::kernels
