// SPDX-License-Identifier: Apache-2.0
// The registers and the arithmetic of a thread with queries, for attention_8_bits.cuh. For .cu
// files of sm_90a.
#pragma once

#include "kernels/attention/attention_weights.cuh"
#include "kernels/attention/tile_layout.h"
#include "kernels/mma/tensor_core.cuh"
#include "kernels/mma/warpgroup.cuh"
#include "kernels/rows/plain_row.cuh"

namespace reel::kernels {

// The 16 channels of a lane in a span.
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

// With the values of a span; the last one brings the sums of the weights, too.
template <typename Tile, int kSpan>
__device__ inline void MultiplyValues(const uint32_t (&weights)[16], uint32_t tile,
                                      float (&products)[36]) {
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    const uint32_t at = tile + Tile::ValuesOf(kSpan) + 2 * part * Tile::kValueStep;
    const uint64_t values = WarpgroupMatrix(at, Tile::kValueStep);
    if constexpr (kSpan == Tile::kSpans - 1) {
      MultiplyTo72(products, weights + 4 * part, values, part > 0);
    } else {
      MultiplyTo64(products, weights + 4 * part, values, part > 0);
    }
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

// The registers of a thread with queries, and its work on each tile.
template <typename Queries>
struct AttentionThread {
  using Tile = KeyTile<Queries::kWidth>;

  Queries queries;
  Weights<Queries> weights;
  Outputs<Tile::kSpans> outputs;
  uint32_t scores[32], words[16];
  float products[36];

  __device__ void FirstTile(uint32_t tile) {
    BeginProducts();
    queries.template Multiply<0>(tile, scores);
    AwaitProducts();
    RestOfScores(queries, tile, scores, [] {});
  }
  __device__ void Weigh(const unsigned char* tile) {
    weights.Make(scores, queries.factor,
                 *reinterpret_cast<const TileFactors*>(tile + Tile::kFactors), words);
  }
  // The products with the values of a tile that was weighed, and the scores of the next. `release`
  // runs when nothing of the former is read any more.
  template <typename Release>
  __device__ void NextTile(uint32_t before, uint32_t tile, const Release& release) {
    BeginProducts();
    MultiplyValues<Tile, 0>(words, before, products);
    if constexpr (Tile::kSpans == 1) {
      queries.template Multiply<0>(tile, scores);
      AwaitProducts();
      RestOfScores(queries, tile, scores, [&] {
        release();
        outputs.template Add<0>(products, weights.factors());
      });
    } else {
      static_assert(Queries::kParts == 1);
      CommitProducts();
      queries.template Multiply<0>(tile, scores);
      CommitProducts();
      AwaitProductGroups<1>();
      outputs.template Add<0>(products, weights.factors());
      BeginProducts();
      MultiplyValues<Tile, 1>(words, before, products);
      CommitProducts();
      AwaitProductGroups<1>();
      queries.template Take<0>(scores);
      AwaitProductGroups<0>();
      release();
      outputs.template Add<1>(products, weights.factors());
    }
  }
  __device__ void LastTile(uint32_t tile) {
    LastSpan<0>(tile);
    if constexpr (Tile::kSpans == 2) LastSpan<1>(tile);
  }

 private:
  template <int kSpan>
  __device__ void LastSpan(uint32_t tile) {
    BeginProducts();
    MultiplyValues<Tile, kSpan>(words, tile, products);
    AwaitProducts();
    outputs.template Add<kSpan>(products, weights.factors());
  }
};

}  // namespace reel::kernels
