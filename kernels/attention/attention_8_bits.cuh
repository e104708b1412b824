// SPDX-License-Identifier: Apache-2.0
// Shared parts of attention_e4m3_sm90.cu, attention_int8_sm90.cu and attention_routed_sm90.cu: all
// but the product of queries and keys, and which tiles are read. For .cu files of sm_90a.
//
// q, k, v, out [B, S or L, N, 64 or 128] of fp16 or bf16, heads of 16-byte vectors, no bias, no
// lengths (AttentionE4m3Accepts). Keys and values are written as tiles first
// (attention_tiles_sm90.cu, tile_layout.h). A block has 64 queries of a head for each of its
// warpgroups but one. These read them once and keep them in 8 bits, while a warp of the last
// warpgroup loads tiles into a ring. Scores are fp16, two to a word. A tile's products with values
// are added in fp32, 64 channels at a time, since the tensor cores keep 14 bits of a long sum.
//
// A kernel defines a type for its queries, of which a lane has two rows, 8 apart:
//   float factor[2]      turns scores times the tile's key_factor into exponents of 2; NaN for a
//                        row that is not finite
//   template <T> void Load(const T* head, int64_t stride, int64_t first, int64_t last, float scale)
//   static constexpr int kWidth        channels
//   static constexpr int kParts        parts of a tile's keys, each multiplied at once
//   template <n> void Multiply(uint32_t tile, uint32_t (&scores)[32])   starts part n
//   template <n> void Take(uint32_t (&scores)[32])                      when part n is complete
// and, for both rows at once, the conversion of scores to weights:
//   __half2 Steepness(float, float)    from the factors for scores
//   __half2 Exponents(__half2 scores, __half2 steepness, __half2 added)
//   CodeLine LineOf(__half2 steepness, __half2 added);  __half2 Codes(__half2 scores, CodeLine)
//
// It also defines which tiles a block takes, of the head blockIdx.y, as a parameter of the kernel:
//   int64_t count                              tiles
//   Walk Begin() const; const void* Walk::Next()    their addresses one after the other
//   void Leave(int64_t i, uint32_t (&words)[16]) const    zeroes weights of tile i that do not
//   count
#pragma once

#include "kernels/attention/attention_heads.cuh"
#include "kernels/attention/attention_launch.h"
#include "kernels/attention/attention_thread.cuh"
#include "kernels/attention/attention_tile_ring.cuh"
#include "kernels/attention/tile_layout.h"
#include "kernels/mma/shared_memory.cuh"
#include "kernels/mma/warpgroup.cuh"
#include "kernels/rows/e4m3_device.cuh"

namespace reel::kernels {

// All tiles of a head, in order.
template <int kWidth>
struct EveryTile {
  struct Walk {
    const unsigned char* tile;
    __device__ const void* Next() {
      const unsigned char* const mine = tile;
      tile += KeyTile<kWidth>::kBytes;
      return mine;
    }
  };

  const unsigned char* tiles;
  int64_t count;

  explicit EveryTile(const AttentionParams& p)
      : tiles(static_cast<const unsigned char*>(p.scratch)), count(KeyTiles(p.keys)) {}
  __device__ Walk Begin() const {
    return {tiles + int64_t{blockIdx.y} * count * KeyTile<kWidth>::kBytes};
  }
  __device__ void Leave(int64_t, uint32_t (&)[16]) const {}
};

template <typename T, typename Queries, typename Tiles>
__device__ inline void AttendTiles(const AttentionParams& p, const Tiles& taken,
                                   TileRing<Queries::kWidth>& shared) {
  constexpr int kBytes = KeyTile<Queries::kWidth>::kBytes;
  const int lane = threadIdx.x % 32;
  const int64_t first = int64_t{blockIdx.x} * AttentionBlock<Queries::kWidth>::kQueries +
                        threadIdx.x / 32 * 16 + lane / 4;
  // Divides again for each operand: kept, batch and head would not fit the registers.
  const auto lane_of = [&](const AttentionOperand& operand) {
    const auto heads = static_cast<unsigned>(p.heads);
    return HeadOf<T>(operand, blockIdx.y / heads, blockIdx.y % heads) + 16 * (lane % 4);
  };
  AttentionThread<Queries> thread;
  thread.queries.template Load<T>(lane_of(p.q), p.q.strides[1], first, p.queries - 1, p.scale);
  const uint32_t tiles = SharedAddress(shared.tiles);
  const uint32_t full = SharedAddress(shared.full), empty = SharedAddress(shared.empty);
  Place place;
  Await(full, 0);
  thread.FirstTile(tiles);
  for (int64_t i = 1; i < taken.count; ++i) {
    const int before = place.stage;
    thread.Weigh(shared.tiles[before]);
    taken.Leave(i - 1, thread.words);
    place.Advance();
    Await(full + 8 * place.stage, place.parity);
    thread.NextTile(tiles + before * kBytes, tiles + place.stage * kBytes, [&] {
      __syncwarp();  // all lanes have read the tile's factors
      if (lane == 0) Arrive(empty + 8 * before);
    });
  }
  thread.Weigh(shared.tiles[place.stage]);
  taken.Leave(taken.count - 1, thread.words);
  thread.LastTile(tiles + place.stage * kBytes);
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int64_t row = first + 8 * r;
    thread.outputs.template Store<T>(
        r, row < p.queries ? lane_of(p.out) + row * p.out.strides[1] : nullptr);
  }
}

template <typename T, typename Queries, typename Tiles>
__global__ void __launch_bounds__(AttentionBlock<Queries::kWidth>::kThreads, 1)
    AttendIn8Bits(const __grid_constant__ AttentionParams p, const __grid_constant__ Tiles taken) {
  using Block = AttentionBlock<Queries::kWidth>;
  extern __shared__ uint4 shared_vectors[];
  auto& shared = *reinterpret_cast<TileRing<Queries::kWidth>*>(shared_vectors);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kTileStages; ++stage) {
      MakeBarrier(SharedAddress(shared.full + stage), 1);
      MakeBarrier(SharedAddress(shared.empty + stage), 4 * Block::kQueryGroups);
    }
    PublishBarriers();
  }
  __syncthreads();
  if (threadIdx.x < 128 * Block::kQueryGroups) {
    TakeRegisters<Block::kRegisters>();
    AttendTiles<T, Queries>(p, taken, shared);
  } else {
    GiveRegisters<24>();
    if (threadIdx.x == 128 * Block::kQueryGroups) BringTiles(taken.Begin(), taken.count, shared);
  }
}

template <typename T, typename Queries, typename Tiles>
cudaError_t LaunchOnTiles(const AttentionParams& p, const Tiles& taken, cudaStream_t stream) {
  using Block = AttentionBlock<Queries::kWidth>;
  auto* const kernel = AttendIn8Bits<T, Queries, Tiles>;
  constexpr int kShared = sizeof(TileRing<Queries::kWidth>);
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
  if (error != cudaSuccess) return error;
  const dim3 blocks(static_cast<unsigned>((p.queries - 1) / Block::kQueries + 1),
                    static_cast<unsigned>(p.batch * p.heads));
  kernel<<<blocks, Block::kThreads, kShared, stream>>>(p, taken);
  return cudaGetLastError();
}

// Tiles are written already.
template <template <int> typename Queries, template <int> typename Tiles>
int32_t LaunchIn8Bits(const AttentionParams& params, void* stream) {
  const auto launch = [&]<int kWidth>() {
    const auto on = static_cast<cudaStream_t>(stream);
    const Tiles<kWidth> taken(params);
    return params.q.dtype == Dtype::kF16
               ? LaunchOnTiles<__half, Queries<kWidth>>(params, taken, on)
               : LaunchOnTiles<__nv_bfloat16, Queries<kWidth>>(params, taken, on);
  };
  return params.width == 128 ? launch.template operator()<128>() : launch.template operator()<64>();
}

// Whether there is nothing to do.
inline bool IsEmpty(const AttentionParams& p) { return p.batch * p.heads == 0 || p.queries == 0; }

// Attention over every key, tiles first.
template <template <int> typename Queries>
int32_t LaunchOverAllTiles(const AttentionParams& params, void* stream) {
  if (IsEmpty(params)) return cudaSuccess;
  const int32_t error = LaunchAttentionTilesSm90(params, stream);
  return error != cudaSuccess ? error : LaunchIn8Bits<Queries, EveryTile>(params, stream);
}

}  // namespace reel::kernels
