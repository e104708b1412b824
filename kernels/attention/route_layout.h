// SPDX-License-Identifier: Apache-2.0
// The scratch of a call of sm90_routed. A block of queries takes the tiles of keys whose mean
// scores highest with the mean of its queries, and the last tile always if it is not full. Of each
// other tile it takes the mean alone, counted as often as the tile has keys. Included by nvcc too.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/attention/attention_launch.h"
#include "kernels/attention/tile_layout.h"

namespace reel::kernels {

inline constexpr int kMaskBits = 32;
// Scores of tiles are compared in the shared memory of one block.
inline constexpr int64_t kMostRoutedTiles = 1024;

// Counts are of a head, and offsets in bytes from the start of the scratch.
struct Routes {
  int64_t tiles = 0, means = 0;  // tiles of keys, and of their means
  int64_t query_blocks = 0;
  int64_t chosen = 0;      // tiles that a block of queries takes
  int64_t mask_words = 0;  // of a block: a bit for each tile, set if it is taken or not there

  int64_t tile_means_at = 0;                       // tiles, one after the other
  int64_t query_at = 0, key_at = 0, value_at = 0;  // means, [blocks or tiles][width]
  int64_t lists_at = 0;                            // [query_blocks][chosen] of uint16
  int64_t masks_at = 0;                            // [query_blocks][mask_words] of uint32
  int64_t bytes = 0;
};

inline Routes RoutesOf(const AttentionParams& p) {
  constexpr int64_t kAlignment = 128;
  Routes routes;
  const int64_t heads = p.batch * p.heads, queries = QueriesOfBlock(p.width);
  routes.tiles = KeyTiles(p.keys);
  routes.means = KeyTiles(routes.tiles);
  routes.query_blocks = (p.queries + queries - 1) / queries;
  const auto share =
      static_cast<int64_t>(std::ceil(p.exact_share * static_cast<double>(routes.tiles)));
  routes.chosen = share < 1 ? 1 : share > routes.tiles ? routes.tiles : share;
  routes.mask_words = routes.means * kTileKeys / kMaskBits;
  const auto take = [&](int64_t of_head) {
    const int64_t at = routes.bytes;
    routes.bytes += (heads * of_head + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  };
  const int64_t mean_bytes = 2 * p.width;  // in 16 bits, as q, k and v
  take(routes.tiles * KeyTileBytes(p.width));
  routes.tile_means_at = take(routes.means * KeyTileBytes(p.width));
  routes.query_at = take(routes.query_blocks * mean_bytes);
  routes.key_at = take(routes.tiles * mean_bytes);
  routes.value_at = take(routes.tiles * mean_bytes);
  routes.lists_at = take(routes.query_blocks * routes.chosen * int64_t{sizeof(uint16_t)});
  routes.masks_at = take(routes.query_blocks * routes.mask_words * int64_t{sizeof(uint32_t)});
  return routes;
}

}  // namespace reel::kernels
