// SPDX-License-Identifier: Apache-2.0
// attention in 8 bits: out = softmax(scale q k^T) v, with q, k, v and the weights in e4m3.
//
// q, k, v, out [B, S or L, N, 64] of fp16 or bf16, heads of 16-byte vectors, no bias, no lengths
// (AttentionE4m3Accepts). Keys and values are written as tiles first (attention_tiles_sm90.cu,
// e4m3_tile_layout.h). A block has 192 queries of a head, 64 for each of three warpgroups, which
// read them once and keep them as e4m3; a warp of a fourth brings tiles into a ring. Scores come as
// fp16, two to a word. Sums of a tile's products are added in fp32: the tensor cores keep 14 bits
// of a long sum.
//
// What would bind such a kernel is the exponential: sixteen a clock and multiprocessor are 89 ms of
// a step of 13,376 tokens, twice what the products take. But a weight is wanted with four bits, and
// the code of 2^x in e4m3 is nearly 8 (x + 7), as its mantissa is nearly linear. So a weight is a
// multiplication and an addition that leaves the code in the low bits of an fp16 number, for two
// scores at once. It is 4.1 % too large in the mean, as the sum of the weights is, and 3.1 % off
// around that, where the code of an exact one would be 2.65 %.
// Bound by the tensor cores and the card's power, at 1,050 to 1,150 TFLOP/s on one H200.
#include <cuda_fp16.h>

#include "kernels/attention/attention_heads.cuh"
#include "kernels/attention/attention_launch.h"
#include "kernels/attention/e4m3_tile_layout.h"
#include "kernels/mma/bulk_copy.cuh"
#include "kernels/mma/shared_memory.cuh"
#include "kernels/mma/tensor_core.cuh"
#include "kernels/mma/warpgroup.cuh"
#include "kernels/rows/e4m3_device.cuh"

namespace reel::kernels {
namespace {

constexpr int kGroups = 3;  // warpgroups with queries
constexpr int kQueries = 64 * kGroups;
constexpr int kThreads = 128 * (kGroups + 1);
constexpr int kStages = 6;
// Of a query's largest channel: with keys of up to 16 scores stay within fp16.
constexpr float kLargestQuery = 16;
// The largest weight is 2^8: codes begin at 2^-7.
constexpr float kLargestExponent = 8 + 7;
// Numbers from here to 256 have an eighth as their last bit: code c is c / 8 above it.
constexpr float kCodesFrom = 128;

struct Shared {
  unsigned char tiles[kStages][kE4m3TileBytes];
  uint64_t full[kStages], empty[kStages];
};

__device__ inline __half2 Halves(uint32_t word) { return reinterpret_cast<const __half2&>(word); }
__device__ inline uint32_t Word(__half2 halves) {
  return reinterpret_cast<const uint32_t&>(halves);
}

using Place = RingPlace<kStages>;  // among tiles

// The words of two rows' queries for both halves of the channels, and what their scores in e4m3
// are to be multiplied with for a power of 2; NaN in a row that is not finite.
struct Queries {
  uint32_t words[2][4];
  float factor[2];
};

template <typename T>
__device__ inline void LoadQueries(const T* head, int64_t stride, int64_t first, int64_t last,
                                   float scale, Queries& queries) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const auto* const at = reinterpret_cast<const uint4*>(head + min(first + 8 * r, last) * stride);
    const uint4 low = at[0], high = at[1];
    const uint32_t words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    float x[16];
#pragma unroll
    for (int w = 0; w < 8; ++w) {
      const float2 two = UnpackTwo<T>(words[w]);
      x[2 * w] = two.x, x[2 * w + 1] = two.y;
    }
    unsigned largest = LargestOf(x);
    largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, 1));
    largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, 2));
    const bool finite = largest < 0x7f800000u;
    const float most = finite ? fmaxf(__uint_as_float(largest), 0x1p-60f) : 1.0f;
    queries.factor[r] = finite ? most * (scale * kLog2E / kLargestQuery) : __uint_as_float(~0u);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int part = 0; part < 2; ++part) {
        const float* const four = x + 8 * half + 4 * part;
        const float factor = kLargestQuery / most;
        queries.words[half][2 * part + r] =
            FourE4m3(four[0] * factor, four[1] * factor, four[2] * factor, four[3] * factor);
      }
    }
  }
}

// The largest of each of the two rows, the first low.
__device__ inline __half2 LargestScores(const uint32_t (&scores)[32]) {
  __half2 most[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    most[r] = __hmax2(Halves(scores[r]), Halves(scores[2 + r]));
    // Three at a time are one instruction.
#pragma unroll
    for (int j = 2; j < 16; j += 2) {
      most[r] = __hmax2(__hmax2(most[r], Halves(scores[2 * j + r])), Halves(scores[2 * j + 2 + r]));
    }
  }
  __half2 both = __hmax2(__lows2half2(most[0], most[1]), __highs2half2(most[0], most[1]));
  both = __hmax2(both, Halves(__shfl_xor_sync(0xffffffffu, Word(both), 1)));
  return __hmax2(both, Halves(__shfl_xor_sync(0xffffffffu, Word(both), 2)));
}

// From scores to weights, with a reference for each of the two rows: a whole number that no
// exponent so far is above.
class Weights {
 public:
  // `words` are the operand of the product with values; factors() take sums so far to the new
  // reference. A row of NaN has weights of 0, and so a sum of 0.
  __device__ void Make(const uint32_t (&scores)[32], const float (&factor)[2],
                       const E4m3Exponents& tile, uint32_t (&words)[16]) {
    const __half2 per_score =
        __floats2half2_rn(factor[0] * tile.key_factor, factor[1] * tile.key_factor);
    const __half2 exponent = __float2half2_rn(tile.value_exponent);
    const __half2 most = __hfma2(LargestScores(scores), per_score, exponent);
    // Above 1,024 fp16 has no halves any more, and above 2,048 not every whole number: as much
    // further up as rounding may take.
    const __half2 above = __hfma2(__habs2(most), __float2half2_rn(0x1p-10f), most);
    const __half2 reference = __hmax2(reference_, h2ceil(above));
    factors_ = __half22float2(h2exp2(__hsub2(reference_, reference)));
    reference_ = reference;
    const __half2 added = __hadd2(__hsub2(exponent, reference), __float2half2_rn(kLargestExponent));
    const __half2 from = __float2half2_rn(kCodesFrom);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const __half2 times = r == 0 ? __low2half2(per_score) : __high2half2(per_score);
      const __half2 plus = __hadd2(r == 0 ? __low2half2(added) : __high2half2(added), from);
      const auto codes = [&](uint32_t score) {
        return Word(__hmax2(__hfma2(Halves(score), times, plus), from));
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

// What products of tiles add up to: of every 8 channels j two of each row, and behind the last
// channels the sum of the weights, which the first lane of four has.
struct Outputs {
  float sums[36] = {};

  __device__ void Add(const float (&products)[36], const float2& factors) {
#pragma unroll
    for (int i = 0; i < 36; ++i) {
      if (i > 32 && i % 2 == 1) continue;  // beside the sums of the weights is nothing
      sums[i] = fmaf(sums[i], i % 4 < 2 ? factors.x : factors.y, products[i]);
    }
  }

  template <typename T>
  __device__ void Store(int row, T* out) const {
    const float sum = __shfl_sync(0xffffffffu, sums[32 + 2 * row], threadIdx.x % 32 & ~3u);
    const float inverse = 1.0f / sum;
    uint32_t words[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      words[j] = PackTwo<T>(sums[4 * j + 2 * row] * inverse, sums[4 * j + 2 * row + 1] * inverse);
    }
    if (out == nullptr) return;
    auto* const to = reinterpret_cast<uint4*>(out);
    to[0] = {words[0], words[1], words[2], words[3]};
    to[1] = {words[4], words[5], words[6], words[7]};
  }
};

__device__ inline void MultiplyKeys(const Queries& queries, uint32_t tile, uint32_t (&scores)[32]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    MultiplyTo128(scores, queries.words[half],
                  WarpgroupMatrix(tile + 2 * half * E4m3Tile::kKeyStep, E4m3Tile::kKeyStep),
                  half > 0);
  }
}
__device__ inline void MultiplyValues(const uint32_t (&weights)[16], uint32_t tile,
                                      float (&products)[36]) {
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    const uint32_t at = tile + E4m3Tile::kValues + 2 * part * E4m3Tile::kValueStep;
    MultiplyTo72(products, weights + 4 * part, WarpgroupMatrix(at, E4m3Tile::kValueStep), part > 0);
  }
}

// One thread, for a whole block.
__device__ inline void BringTiles(const unsigned char* from, int64_t count, Shared& shared) {
  const uint32_t to = SharedAddress(shared.tiles);
  const uint32_t full = SharedAddress(shared.full), empty = SharedAddress(shared.empty);
  Place place{.stage = 0, .parity = 1};
  for (int64_t i = 0; i < count; ++i, place.Advance()) {
    Await(empty + 8 * place.stage, place.parity);
    BulkCopy(to + place.stage * kE4m3TileBytes, from + i * kE4m3TileBytes, kE4m3TileBytes,
             full + 8 * place.stage);
  }
}

template <typename T>
__device__ inline void AttendTiles(const AttentionParams& p, int64_t batch, int64_t head,
                                   int64_t count, Shared& shared) {
  const int lane = threadIdx.x % 32;
  const int64_t first = int64_t{blockIdx.x} * kQueries + threadIdx.x / 32 * 16 + lane / 4;
  const auto lane_of = [&](const AttentionOperand& operand) {
    return HeadOf<T>(operand, batch, head) + 16 * (lane % 4);
  };
  Queries queries;
  LoadQueries<T>(lane_of(p.q), p.q.strides[1], first, p.queries - 1, p.scale, queries);
  const uint32_t tiles = SharedAddress(shared.tiles);
  const uint32_t full = SharedAddress(shared.full), empty = SharedAddress(shared.empty);
  const auto weigh = [&](Weights& weights, int stage, const uint32_t(&scores)[32],
                         uint32_t(&words)[16]) {
    weights.Make(
        scores, queries.factor,
        *reinterpret_cast<const E4m3Exponents*>(shared.tiles[stage] + E4m3Tile::kExponents), words);
  };
  Weights weights;
  Outputs outputs;
  uint32_t scores[32], words[16];
  float products[36];
  Place place;
  Await(full, 0);
  BeginProducts();
  MultiplyKeys(queries, tiles, scores);
  AwaitProducts();
  for (int64_t i = 1; i < count; ++i) {
    const int stage = place.stage;
    weigh(weights, stage, scores, words);
    place.Advance();
    Await(full + 8 * place.stage, place.parity);
    BeginProducts();
    MultiplyValues(words, tiles + stage * kE4m3TileBytes, products);
    MultiplyKeys(queries, tiles + place.stage * kE4m3TileBytes, scores);
    AwaitProducts();
    __syncwarp();  // all lanes have read the tile's exponents
    if (lane == 0) Arrive(empty + 8 * stage);
    outputs.Add(products, weights.factors());
  }
  weigh(weights, place.stage, scores, words);
  BeginProducts();
  MultiplyValues(words, tiles + place.stage * kE4m3TileBytes, products);
  AwaitProducts();
  outputs.Add(products, weights.factors());
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int64_t row = first + 8 * r;
    outputs.Store<T>(r, row < p.queries ? lane_of(p.out) + row * p.out.strides[1] : nullptr);
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads, 1)
    AttendE4m3(const __grid_constant__ AttentionParams p) {
  extern __shared__ uint4 shared_vectors[];
  auto& shared = *reinterpret_cast<Shared*>(shared_vectors);
  const int64_t head = blockIdx.y % p.heads, batch = blockIdx.y / p.heads;
  const int64_t count = E4m3Tiles(p.keys);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      MakeBarrier(SharedAddress(shared.full + stage), 1);
      MakeBarrier(SharedAddress(shared.empty + stage), 4 * kGroups);
    }
    PublishBarriers();
  }
  __syncthreads();
  if (threadIdx.x < 128 * kGroups) {
    TakeRegisters<160>();
    AttendTiles<T>(p, batch, head, count, shared);
  } else {
    GiveRegisters<24>();
    const auto* const tiles = static_cast<const unsigned char*>(p.scratch);
    if (threadIdx.x == 128 * kGroups) {
      BringTiles(tiles + int64_t{blockIdx.y} * count * kE4m3TileBytes, count, shared);
    }
  }
}

template <typename T>
int32_t Launch(const AttentionParams& p, cudaStream_t stream) {
  const cudaError_t error = cudaFuncSetAttribute(
      AttendE4m3<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared));
  if (error != cudaSuccess) return error;
  const dim3 blocks(static_cast<unsigned>((p.queries - 1) / kQueries + 1),
                    static_cast<unsigned>(p.batch * p.heads));
  AttendE4m3<T><<<blocks, kThreads, sizeof(Shared), stream>>>(p);
  return cudaGetLastError();
}

}  // namespace

int32_t LaunchAttentionE4m3Sm90(const AttentionParams& params, void* stream) {
  if (params.batch * params.heads == 0 || params.queries == 0) return cudaSuccess;
  const int32_t error = LaunchAttentionTilesSm90(params, stream);
  if (error != cudaSuccess) return error;
  const auto on = static_cast<cudaStream_t>(stream);
  return params.q.dtype == Dtype::kF16 ? Launch<__half>(params, on)
                                       : Launch<__nv_bfloat16>(params, on);
}

}  // namespace reel::kernels
