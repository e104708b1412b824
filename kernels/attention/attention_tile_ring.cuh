// SPDX-License-Identifier: Apache-2.0
// The threads of a block of attention_8_bits.cuh, and the ring in shared memory through which tiles
// come to it. For .cu files of sm_90a.
#pragma once

#include "kernels/attention/tile_layout.h"
#include "kernels/mma/bulk_copy.cuh"
#include "kernels/mma/shared_memory.cuh"

namespace reel::kernels {

inline constexpr int kTileStages = 6;

// A thread has sums for all channels of its rows, 36 or 68 of them. So 128 channels leave registers
// for two warpgroups with queries, not three.
template <int kWidth>
struct AttentionBlock {
  static constexpr int kQueries = QueriesOfBlock(kWidth);
  static constexpr int kQueryGroups = kQueries / 64;           // warpgroups with queries
  static constexpr int kRegisters = kWidth == 64 ? 160 : 240;  // of each of their threads
  static constexpr int kThreads = 128 * (kQueryGroups + 1);
};

template <int kWidth>
struct TileRing {
  unsigned char tiles[kTileStages][KeyTile<kWidth>::kBytes];
  uint64_t full[kTileStages], empty[kTileStages];
};

using Place = RingPlace<kTileStages>;  // among tiles

// One thread, for a whole block. `tiles` has the addresses of `count` tiles.
template <int kWidth, typename Tiles>
__device__ inline void BringTiles(Tiles tiles, int64_t count, TileRing<kWidth>& shared) {
  constexpr int kBytes = KeyTile<kWidth>::kBytes;
  const uint32_t to = SharedAddress(shared.tiles);
  const uint32_t full = SharedAddress(shared.full), empty = SharedAddress(shared.empty);
  Place place{.stage = 0, .parity = 1};
  for (int64_t i = 0; i < count; ++i, place.Advance()) {
    Await(empty + 8 * place.stage, place.parity);
    BulkCopy(to + place.stage * kBytes, tiles.Next(), kBytes, full + 8 * place.stage);
  }
}

}  // namespace reel::kernels
