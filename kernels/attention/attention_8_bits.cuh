// SPDX-License-Identifier: Apache-2.0
// Shared parts of attention_e4m3_sm90.cu and attention_int8_sm90.cu: all but the product of
// queries and keys. For .cu files of sm_90a.
//
// q, k, v, out [B, S or L, N, 64] of fp16 or bf16, heads of 16-byte vectors, no bias, no lengths
// (AttentionE4m3Accepts). Keys and values are written as tiles first (attention_tiles_sm90.cu,
// tile_layout.h). A block has 192 queries of a head, 64 for each of three warpgroups. These read
// them once and keep them in 8 bits, while a warp of a fourth warpgroup loads tiles into a ring.
// Scores are fp16, two to a word. A tile's products with values are added in fp32, since the tensor
// cores keep only 14 bits of a long sum.
//
// A kernel defines a type for its queries, of which a lane has two rows, 8 apart:
//   float factor[2]      turns scores times the tile's key_factor into exponents of 2; NaN for a
//                        row that is not finite
//   template <T> void Load(const T* head, int64_t stride, int64_t first, int64_t last, float scale)
//   static constexpr int kParts        parts of a tile's keys, each multiplied at once
//   template <n> void Multiply(uint32_t tile, uint32_t (&scores)[32])   starts part n
//   template <n> void Take(uint32_t (&scores)[32])                      when part n is complete
// and, for both rows at once, the conversion of scores to weights:
//   __half2 Steepness(float, float)    from the factors for scores
//   __half2 Exponents(__half2 scores, __half2 steepness, __half2 added)
//   CodeLine LineOf(__half2 steepness, __half2 added);  __half2 Codes(__half2 scores, CodeLine)
#pragma once

#include "kernels/attention/attention_heads.cuh"
#include "kernels/attention/attention_launch.h"
#include "kernels/attention/attention_weights.cuh"
#include "kernels/attention/tile_layout.h"
#include "kernels/mma/bulk_copy.cuh"
#include "kernels/mma/shared_memory.cuh"
#include "kernels/mma/warpgroup.cuh"
#include "kernels/rows/e4m3_device.cuh"

namespace reel::kernels {

inline constexpr int kQueryGroups = 3;  // warpgroups with queries
inline constexpr int kBlockQueries = 64 * kQueryGroups;
inline constexpr int kAttentionThreads = 128 * (kQueryGroups + 1);
inline constexpr int kTileStages = 6;

struct TileRing {
  unsigned char tiles[kTileStages][kKeyTileBytes];
  uint64_t full[kTileStages], empty[kTileStages];
};

// The 16 channels of a lane.
template <typename T>
__device__ inline void LoadChannels(const T* from, float (&x)[16]) {
  const auto* const at = reinterpret_cast<const uint4*>(from);
  const uint4 low = at[0], high = at[1];
  const uint32_t words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int w = 0; w < 8; ++w) {
    const float2 two = UnpackTwo<T>(words[w]);
    x[2 * w] = two.x, x[2 * w + 1] = two.y;
  }
}
// The largest value of the four lanes of a row.
__device__ inline unsigned LargestOfRow(unsigned largest) {
  largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, 1));
  return max(largest, __shfl_xor_sync(0xffffffffu, largest, 2));
}

using Place = RingPlace<kTileStages>;  // among tiles

__device__ inline void MultiplyValues(const uint32_t (&weights)[16], uint32_t tile,
                                      float (&products)[36]) {
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    const uint32_t at = tile + KeyTile::kValues + 2 * part * KeyTile::kValueStep;
    MultiplyTo72(products, weights + 4 * part, WarpgroupMatrix(at, KeyTile::kValueStep), part > 0);
  }
}

// One thread, for a whole block.
__device__ inline void BringTiles(const unsigned char* from, int64_t count, TileRing& shared) {
  const uint32_t to = SharedAddress(shared.tiles);
  const uint32_t full = SharedAddress(shared.full), empty = SharedAddress(shared.empty);
  Place place{.stage = 0, .parity = 1};
  for (int64_t i = 0; i < count; ++i, place.Advance()) {
    Await(empty + 8 * place.stage, place.parity);
    BulkCopy(to + place.stage * kKeyTileBytes, from + i * kKeyTileBytes, kKeyTileBytes,
             full + 8 * place.stage);
  }
}

// Finishes the scores of a tile whose first part is there. `meanwhile` runs before the second part
// is complete.
template <typename Queries, typename Body>
__device__ inline void RestOfScores(Queries& queries, uint32_t tile, uint32_t (&scores)[32],
                                    const Body& meanwhile) {
  queries.template Take<0>(scores);
  if constexpr (Queries::kParts == 2) {
    BeginProducts();
    queries.template Multiply<1>(tile, scores);
    CommitProducts();
  }
  meanwhile();
  if constexpr (Queries::kParts == 2) {
    AwaitProductGroups<0>();
    queries.template Take<1>(scores);
  }
}

template <typename T, typename Queries>
__device__ inline void AttendTiles(const AttentionParams& p, int64_t batch, int64_t head,
                                   int64_t count, TileRing& shared) {
  const int lane = threadIdx.x % 32;
  const int64_t first = int64_t{blockIdx.x} * kBlockQueries + threadIdx.x / 32 * 16 + lane / 4;
  const auto lane_of = [&](const AttentionOperand& operand) {
    return HeadOf<T>(operand, batch, head) + 16 * (lane % 4);
  };
  Queries queries;
  queries.template Load<T>(lane_of(p.q), p.q.strides[1], first, p.queries - 1, p.scale);
  const uint32_t tiles = SharedAddress(shared.tiles);
  const uint32_t full = SharedAddress(shared.full), empty = SharedAddress(shared.empty);
  const auto weigh = [&](Weights<Queries>& weights, int stage, const uint32_t(&scores)[32],
                         uint32_t(&words)[16]) {
    weights.Make(scores, queries.factor,
                 *reinterpret_cast<const TileFactors*>(shared.tiles[stage] + KeyTile::kFactors),
                 words);
  };
  Weights<Queries> weights;
  Outputs outputs;
  uint32_t scores[32], words[16];
  float products[36];
  Place place;
  Await(full, 0);
  BeginProducts();
  queries.template Multiply<0>(tiles, scores);
  AwaitProducts();
  RestOfScores(queries, tiles, scores, [] {});
  for (int64_t i = 1; i < count; ++i) {
    const int stage = place.stage;
    weigh(weights, stage, scores, words);
    place.Advance();
    const uint32_t tile = tiles + place.stage * kKeyTileBytes;
    Await(full + 8 * place.stage, place.parity);
    BeginProducts();
    MultiplyValues(words, tiles + stage * kKeyTileBytes, products);
    queries.template Multiply<0>(tile, scores);
    AwaitProducts();
    RestOfScores(queries, tile, scores, [&] {
      __syncwarp();  // all lanes have read the tile's factors
      if (lane == 0) Arrive(empty + 8 * stage);
      outputs.Add(products, weights.factors());
    });
  }
  weigh(weights, place.stage, scores, words);
  BeginProducts();
  MultiplyValues(words, tiles + place.stage * kKeyTileBytes, products);
  AwaitProducts();
  outputs.Add(products, weights.factors());
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int64_t row = first + 8 * r;
    outputs.Store<T>(r, row < p.queries ? lane_of(p.out) + row * p.out.strides[1] : nullptr);
  }
}

template <typename T, typename Queries>
__global__ void __launch_bounds__(kAttentionThreads, 1)
    AttendIn8Bits(const __grid_constant__ AttentionParams p) {
  extern __shared__ uint4 shared_vectors[];
  auto& shared = *reinterpret_cast<TileRing*>(shared_vectors);
  const int64_t head = blockIdx.y % p.heads, batch = blockIdx.y / p.heads;
  const int64_t count = KeyTiles(p.keys);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kTileStages; ++stage) {
      MakeBarrier(SharedAddress(shared.full + stage), 1);
      MakeBarrier(SharedAddress(shared.empty + stage), 4 * kQueryGroups);
    }
    PublishBarriers();
  }
  __syncthreads();
  if (threadIdx.x < 128 * kQueryGroups) {
    TakeRegisters<160>();
    AttendTiles<T, Queries>(p, batch, head, count, shared);
  } else {
    GiveRegisters<24>();
    const auto* const tiles = static_cast<const unsigned char*>(p.scratch);
    if (threadIdx.x == 128 * kQueryGroups) {
      BringTiles(tiles + int64_t{blockIdx.y} * count * kKeyTileBytes, count, shared);
    }
  }
}

// The tiles are there.
template <typename Queries>
int32_t LaunchOnTiles(const AttentionParams& p, cudaStream_t stream) {
  const auto launch = [&](auto* kernel) {
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(TileRing));
    if (error != cudaSuccess) return error;
    const dim3 blocks(static_cast<unsigned>((p.queries - 1) / kBlockQueries + 1),
                      static_cast<unsigned>(p.batch * p.heads));
    kernel<<<blocks, kAttentionThreads, sizeof(TileRing), stream>>>(p);
    return cudaGetLastError();
  };
  return p.q.dtype == Dtype::kF16 ? launch(AttendIn8Bits<__half, Queries>)
                                  : launch(AttendIn8Bits<__nv_bfloat16, Queries>);
}

// Tiles first.
template <typename Queries>
int32_t LaunchIn8Bits(const AttentionParams& params, void* stream) {
  if (params.batch * params.heads == 0 || params.queries == 0) return cudaSuccess;
  const int32_t error = LaunchAttentionTilesSm90(params, stream);
  if (error != cudaSuccess) return error;
  return LaunchOnTiles<Queries>(params, static_cast<cudaStream_t>(stream));
}

}  // namespace reel::kernels
