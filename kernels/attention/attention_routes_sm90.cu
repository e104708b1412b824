// SPDX-License-Identifier: Apache-2.0
// Chooses tiles of keys for blocks of queries (route_layout.h), before attention_routed_sm90.cu.
// Takes means of queries, keys and values first, which is bound by memory. Then a block of threads
// for each block of queries scores all tiles and ranks them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/attention/attention_heads.cuh"
#include "kernels/attention/attention_launch.h"
#include "kernels/attention/route_layout.h"
#include "kernels/attention/tile_layout.h"
#include "kernels/mma/tensor_core.cuh"
#include "kernels/rows/plain_row.cuh"

namespace reel::kernels {
namespace {

constexpr int kThreads = 256;

// Writes the mean of each `rows` rows of a head, [B, N, blocks, kWidth]. The order of additions is
// always the same.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads)
    WriteMeans(const __grid_constant__ AttentionOperand from, int64_t all, int rows, int heads,
               T* means) {
  constexpr int kChunks = kWidth / 8, kStride = kThreads / kChunks;
  __shared__ float sums[kStride][kWidth];
  const int chunk = threadIdx.x % kChunks, lane = threadIdx.x / kChunks;
  const int64_t first = int64_t{blockIdx.x} * rows, end = min(first + rows, all);
  const T* const head = HeadOf<const T>(from, blockIdx.y / heads, blockIdx.y % heads) + 8 * chunk;
  float sum[8] = {};
  for (int64_t row = first + lane; row < end; row += kStride) {
    float x[8];
    Unpack<T>(*reinterpret_cast<const uint4*>(head + row * from.strides[1]), x);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum[i] += x[i];
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) sums[lane][8 * chunk + i] = sum[i];
  __syncthreads();
  if (threadIdx.x >= kWidth) return;
  float whole = 0;
#pragma unroll
  for (int i = 0; i < kStride; ++i) whole += sums[i][threadIdx.x];
  means[(int64_t{blockIdx.y} * gridDim.x + blockIdx.x) * kWidth + threadIdx.x] =
      static_cast<T>(whole / static_cast<float>(end - first));
}

// Larger for a larger score; NaN has a place, too, so that ranks are always different.
__device__ inline uint32_t InOrder(float score) {
  const uint32_t bits = __float_as_uint(score);
  return bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
}

template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads)
    ChooseTiles(const __grid_constant__ Routes routes, bool takes_last, unsigned char* scratch) {
  __shared__ float query[kWidth];
  __shared__ uint32_t scores[kMostRoutedTiles];
  const auto tiles = static_cast<int>(routes.tiles), chosen = static_cast<int>(routes.chosen);
  const int64_t block = int64_t{blockIdx.y} * routes.query_blocks + blockIdx.x;
  const T* const of_query = reinterpret_cast<const T*>(scratch + routes.query_at) + block * kWidth;
  const T* const of_keys = reinterpret_cast<const T*>(scratch + routes.key_at) +
                           int64_t{blockIdx.y} * routes.tiles * kWidth;
  auto* const list = reinterpret_cast<uint16_t*>(scratch + routes.lists_at) + block * chosen;
  auto* const mask =
      reinterpret_cast<uint32_t*>(scratch + routes.masks_at) + block * routes.mask_words;
  if (threadIdx.x < kWidth) query[threadIdx.x] = static_cast<float>(of_query[threadIdx.x]);
  __syncthreads();
  for (int tile = threadIdx.x; tile < tiles; tile += kThreads) {
    float score = 0;
#pragma unroll 4
    for (int chunk = 0; chunk < kWidth / 8; ++chunk) {
      float x[8];
      Unpack<T>(*reinterpret_cast<const uint4*>(of_keys + tile * kWidth + 8 * chunk), x);
#pragma unroll
      for (int i = 0; i < 8; ++i) score = fmaf(query[8 * chunk + i], x[i], score);
    }
    scores[tile] = takes_last && tile == tiles - 1 ? ~0u : InOrder(score);
  }
  __syncthreads();
  for (int tile = threadIdx.x; tile < routes.mask_words * kMaskBits; tile += kThreads) {
    int rank = 0;
    if (tile < tiles) {
      const uint32_t mine = scores[tile];
      for (int other = 0; other < tiles; ++other) {
        rank += scores[other] > mine || (scores[other] == mine && other < tile) ? 1 : 0;
      }
      if (rank < chosen) list[rank] = static_cast<uint16_t>(tile);
    }
    const uint32_t taken = __ballot_sync(0xffffffffu, rank < chosen);
    if (threadIdx.x % kMaskBits == 0) mask[tile / kMaskBits] = taken;
  }
}

template <typename T, int kWidth>
cudaError_t Launch(const AttentionParams& p, cudaStream_t stream) {
  const Routes routes = RoutesOf(p);
  auto* const scratch = static_cast<unsigned char*>(p.scratch);
  const auto heads = static_cast<unsigned>(p.batch * p.heads);
  const auto write = [&](const AttentionOperand& from, int64_t rows, int block, int64_t to) {
    const dim3 blocks(static_cast<unsigned>((rows + block - 1) / block), heads);
    WriteMeans<T, kWidth><<<blocks, kThreads, 0, stream>>>(
        from, rows, block, static_cast<int>(p.heads), reinterpret_cast<T*>(scratch + to));
  };
  write(p.q, p.queries, QueriesOfBlock(kWidth), routes.query_at);
  write(p.k, p.keys, kTileKeys, routes.key_at);
  write(p.v, p.keys, kTileKeys, routes.value_at);
  const dim3 blocks(static_cast<unsigned>(routes.query_blocks), heads);
  ChooseTiles<T, kWidth><<<blocks, kThreads, 0, stream>>>(routes, p.keys % kTileKeys != 0, scratch);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) return error;

  AttentionParams means = p;
  means.keys = routes.tiles;
  means.log2_keys = 7;
  static_assert(1 << 7 == kTileKeys);
  means.scratch = scratch + routes.tile_means_at;
  const auto view = [&](int64_t at) {
    const int64_t of_head = routes.tiles * kWidth;
    return AttentionOperand{scratch + at, p.k.dtype, {p.heads * of_head, kWidth, of_head, 1}};
  };
  means.k = view(routes.key_at);
  means.v = view(routes.value_at);
  return static_cast<cudaError_t>(LaunchAttentionTilesSm90(means, stream));
}

}  // namespace

int32_t LaunchAttentionRoutesSm90(const AttentionParams& params, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  const auto launch = [&]<int kWidth>() {
    return params.q.dtype == Dtype::kF16 ? Launch<__half, kWidth>(params, on)
                                         : Launch<__nv_bfloat16, kWidth>(params, on);
  };
  return params.width == 128 ? launch.template operator()<128>() : launch.template operator()<64>();
}

}  // namespace reel::kernels
