// SPDX-License-Identifier: Apache-2.0
// The order of tiles in linear_int8_sm90.cu.
#pragma once

#include "kernels/linear/int8_tiles_layout.h"

namespace reel::kernels {

// The position of a tile. Consecutive tiles share rows or weights that are still in the cache.
struct Int8TilePlace {
  int row, column;  // in tiles

  __device__ Int8TilePlace(const TileOrder& order, int tile) {
    const int of_band = order.band * order.column_tiles, band = tile / of_band;
    const int rows = min(order.band, order.row_tiles - band * order.band);
    const int within = tile - band * of_band;
    column = within / rows;
    row = band * order.band + within - column * rows;
  }
};

}  // namespace reel::kernels
