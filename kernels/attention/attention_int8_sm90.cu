// SPDX-License-Identifier: Apache-2.0
// attention in 8 bits: out = softmax(scale q k^T) v, with q and k in int8, v and the weights in
// e4m3 (attention_8_bits.cuh). With e4m3 scores most of the error would come from the scores.
//
// Rows of q and k are rotated first, 16 neighbouring channels at a time, so that none stands out.
// The product of two rotated rows is 16 times the original one. Codes of a row are at most 127, and
// the row's length is at most 362, so that a score is below 2^17. Two of its bytes then become the
// low bits of an fp16 number, which turns two scores into two numbers with two instructions. The
// line that makes the weights' codes subtracts the constant offset of such numbers. It ends at 0 by
// itself, since its results are subnormal in fp16 and clipped at 0 and 1.
#include "kernels/attention/attention_8_bits.cuh"
#include "kernels/attention/int8_codes.cuh"
#include "kernels/mma/warpgroup_int8.cuh"

namespace reel::kernels {
namespace {

template <int kOfWidth>
struct QueriesInInt8 {
  static constexpr int kWidth = kOfWidth;
  using Tile = KeyTile<kWidth>;
  // Three warpgroups with queries leave no registers for all 128 keys at once.
  static constexpr int kParts = kWidth == 64 ? 2 : 1;

  uint32_t words[kWidth / 32][4];
  float factor[2];
  int32_t sums[64 / kParts];

  template <typename T>
  __device__ void Load(const T* head, int64_t stride, int64_t first, int64_t last, float scale) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float x[Tile::kSpans][kTurnedChannels];
      float squares = 0;
      unsigned largest = 0;
#pragma unroll
      for (int span = 0; span < Tile::kSpans; ++span) {
        LoadChannels(head + min(first + 8 * r, last) * stride + span * kSpanChannels, x[span]);
#pragma unroll
        for (int i = 0; i < kTurnedChannels; ++i) squares = fmaf(x[span][i], x[span][i], squares);
        Turn(x[span]);
        largest = max(largest, LargestOf(x[span]));
      }
      squares += __shfl_xor_sync(0xffffffffu, squares, 1);
      squares += __shfl_xor_sync(0xffffffffu, squares, 2);
      const unsigned code = max(LargestOfRow(CodeBits(largest)), LengthBits<kWidth>(squares));
      const bool finite = code < 0x7f800000u;
      const float of_code = finite ? fmaxf(__uint_as_float(code), 0x1p-60f) : 1.0f;
      factor[r] =
          finite ? of_code * (scale * kLog2E * kScoreUnit / kTurnedChannels) : __uint_as_float(~0u);
#pragma unroll
      for (int i = 0; i < kWidth / 32; ++i) {
#pragma unroll
        for (int part = 0; part < 2; ++part) {
          words[i][2 * part + r] = FourInt8(x[i / 2] + 8 * (i % 2) + 4 * part, 1 / of_code);
        }
      }
    }
  }
  template <int kPart>
  __device__ void Multiply(uint32_t tile, uint32_t (&)[32]) {
    const uint32_t keys = tile + kPart * (kTileKeys / kParts / 8 * Tile::kMatrix);
#pragma unroll
    for (int i = 0; i < kWidth / 32; ++i) {
      MultiplyInt8(sums, words[i], WarpgroupMatrix(keys + Tile::KeysOf(i), Tile::kKeyStep), i > 0);
    }
  }
  // Bytes 1 and 2 of a sum are the sum in units of 256, rounded down. With bit 9 inverted they are
  // the mantissa of the fp16 number (1,536 + units) 2^-20.
  template <int kPart>
  __device__ void Take(uint32_t (&scores)[32]) const {
#pragma unroll
    for (int i = 0; i < 32 / kParts; ++i) {
      const uint32_t units = __byte_perm(sums[2 * i], sums[2 * i + 1], 0x6521);
      scores[32 / kParts * kPart + i] = (units & 0x03ff03ffu) ^ 0x16001600u;
    }
  }

  // The factor of a unit: eight bits, and none below 2^-12, so that 1,536 units are whole codes.
  __device__ static __half2 Steepness(float first, float second) {
    return __floats2half2_rn(Steepness(first), Steepness(second));
  }
  __device__ static __half2 Exponents(__half2 scores, __half2 steepness, __half2 added) {
    const __half2 units =
        __hmul2(__hsub2(scores, __float2half2_rn(kNoUnits)), __float2half2_rn(1024));
    return __hfma2(units, __hmul2(steepness, __float2half2_rn(1024)), added);
  }
  // Adding these rounds to 2^-24: code c becomes c 2^-24.
  __device__ static CodeLine LineOf(__half2 steepness, __half2 added) {
    const float2 steep = __half22float2(steepness), plus = __half22float2(added);
    const auto begin = [](float per_unit, float exponent) {
      return (8 * exponent - 8 * 1536 * per_unit) * 0x1p-24f;
    };
    return {__hmul2(steepness, __float2half2_rn(0.5f)),
            __floats2half2_rn(begin(steep.x, plus.x), begin(steep.y, plus.y))};
  }
  __device__ static __half2 Codes(__half2 scores, const CodeLine& line) {
    return __hfma2_sat(scores, line.times, line.plus);
  }

 private:
  static constexpr float kScoreUnit = 256;
  static constexpr float kNoUnits = 1536 * 0x1p-20f;

  __device__ static float Steepness(float per_unit) {
    if (per_unit >= 0x1p-5f) {
      const float most = per_unit > 60.0f ? 60.0f : per_unit;
      return __bfloat162float(__float2bfloat16_rn(most));
    }
    constexpr float kLastBit = 1.5f * 0x1p11f;  // is 2^-12 here
    return (per_unit + kLastBit) - kLastBit;
  }
};

}  // namespace

int32_t LaunchAttentionInt8Sm90(const AttentionParams& params, void* stream) {
  return LaunchOverAllTiles<QueriesInInt8>(params, stream);
}

}  // namespace reel::kernels
