// SPDX-License-Identifier: Apache-2.0
// attention in 8 bits over a share of the keys, and the means of all others (route_layout.h). As
// attention_e4m3_sm90.cu but for the tiles: those that were chosen for the block, then tiles of
// means, in which those of chosen tiles have no weight.
#include "kernels/attention/attention_queries_e4m3.cuh"
#include "kernels/attention/route_layout.h"

namespace reel::kernels {
namespace {

template <int kWidth>
struct RoutedTiles {
  static constexpr int kBytes = KeyTile<kWidth>::kBytes;

  struct Walk {
    const unsigned char* tiles;
    const uint16_t *next, *end;
    const unsigned char* means;
    // An address ahead, so that nobody waits for it.
    const unsigned char* tile;

    __device__ const void* Next() {
      const unsigned char* const mine = tile;
      Find();
      return mine;
    }
    __device__ void Find() {
      if (next < end) {
        tile = tiles + int64_t{*next++} * kBytes;
      } else {
        tile = means;
        means += kBytes;
      }
    }
  };

  const unsigned char* scratch;
  const Routes routes;
  int64_t count;

  explicit RoutedTiles(const AttentionParams& p)
      : scratch(static_cast<const unsigned char*>(p.scratch)),
        routes(RoutesOf(p)),
        count(routes.chosen + routes.means) {}

  __device__ int64_t Block() const {
    return int64_t{blockIdx.y} * routes.query_blocks + blockIdx.x;
  }
  __device__ Walk Begin() const {
    const auto* const list =
        reinterpret_cast<const uint16_t*>(scratch + routes.lists_at) + Block() * routes.chosen;
    Walk walk{.tiles = scratch + int64_t{blockIdx.y} * routes.tiles * kBytes,
              .next = list,
              .end = list + routes.chosen,
              .means = scratch + routes.tile_means_at + int64_t{blockIdx.y} * routes.means * kBytes,
              .tile = nullptr};
    walk.Find();
    return walk;
  }
  // Of 16 neighbouring keys a lane has two of the first eight and two of the others in a word.
  __device__ void Leave(int64_t i, uint32_t (&words)[16]) const {
    if (i < routes.chosen) return;
    const auto* const masks =
        reinterpret_cast<const uint32_t*>(scratch + routes.masks_at) + Block() * routes.mask_words;
    const uint4 four = reinterpret_cast<const uint4*>(masks)[i - routes.chosen];
    const uint32_t mask[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const uint32_t bits = mask[j / 2] >> (16 * (j % 2) + 2 * (threadIdx.x % 4));
      const uint32_t taken = (bits & 3) | (bits >> 6 & 12);
      const uint32_t bytes = (taken * 0x00204081u & 0x01010101u) * 0xffu;
      words[2 * j] &= ~bytes;
      words[2 * j + 1] &= ~bytes;
    }
  }
};

}  // namespace

int32_t LaunchAttentionRoutedSm90(const AttentionParams& params, void* stream) {
  if (IsEmpty(params)) return cudaSuccess;
  int32_t error = LaunchAttentionTilesSm90(params, stream);
  if (error == cudaSuccess) error = LaunchAttentionRoutesSm90(params, stream);
  return error != cudaSuccess ? error : LaunchIn8Bits<QueriesInE4m3, RoutedTiles>(params, stream);
}

}  // namespace reel::kernels
