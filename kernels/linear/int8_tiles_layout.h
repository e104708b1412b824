// SPDX-License-Identifier: Apache-2.0
// Divides the outputs of linear_int8_sm90.cu into tiles and launches. Included by nvcc too.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace reel::kernels {

inline constexpr int kInt8TileRows = 128;
inline constexpr std::array kInt8TileColumns = {256, 192, 128, 64};

struct TileOrder {
  int32_t row_tiles, column_tiles;
  int32_t band;  // row tiles whose columns are all computed before the next band

  constexpr int32_t tiles() const { return row_tiles * column_tiles; }
};

// Rows that do not fit into the cache beside the weights are processed in bands.
inline TileOrder OrderOf(int64_t rows, int64_t width, int64_t outputs, int columns) {
  constexpr int64_t kMostCachedBytes = int64_t{24} << 20, kBand = 24;
  const int64_t row_tiles = (rows + kInt8TileRows - 1) / kInt8TileRows;
  const int64_t band = rows * width > kMostCachedBytes ? std::min(kBand, row_tiles) : row_tiles;
  return {.row_tiles = static_cast<int32_t>(row_tiles),
          .column_tiles = static_cast<int32_t>((outputs + columns - 1) / columns),
          .band = static_cast<int32_t>(band)};
}

// The work of the slowest block with tiles of that width, in columns of a piece. A piece takes as
// long as its columns plus 25, and the narrowest as long as its copy.
inline int64_t TimeOf(int64_t rows, int64_t outputs, int columns, int multiprocessors) {
  constexpr int kMoreColumns = 25, kLeastColumns = 96;
  const int64_t tiles = OrderOf(rows, 0, outputs, columns).tiles();
  return (tiles + multiprocessors - 1) / multiprocessors *
         (std::max(columns, kLeastColumns) + kMoreColumns);
}
// The width of a tile that finishes first.
inline int BestColumns(int64_t rows, int64_t outputs, int multiprocessors) {
  const auto time = [&](int columns) { return TimeOf(rows, outputs, columns, multiprocessors); };
  return *std::min_element(kInt8TileColumns.begin(), kInt8TileColumns.end(),
                           [&](int a, int b) { return time(a) < time(b); });
}

// Splits the rows between two launches: as many as give every block the same number of tiles, and
// the rest in narrower tiles, if few blocks would remain.
struct RowCut {
  int64_t first_rows;  // all: one launch
  int first_columns;
};
inline RowCut BestCut(int64_t rows, int64_t width, int64_t outputs, int multiprocessors) {
  // In columns of a piece; there is one piece for each 128 elements of the width.
  const int64_t launch = 1 + 80 * 1024 / std::max<int64_t>(width, 128);
  RowCut best = {rows, BestColumns(rows, outputs, multiprocessors)};
  int64_t least = TimeOf(rows, outputs, best.first_columns, multiprocessors);
  for (const int columns : kInt8TileColumns) {
    const TileOrder all = OrderOf(rows, 0, outputs, columns);
    const int64_t waves = all.tiles() / multiprocessors;
    const int64_t first = waves * multiprocessors / all.column_tiles * kInt8TileRows;
    if (first <= 0 || first >= rows) continue;
    const int64_t rest = rows - first;
    const int64_t time =
        TimeOf(first, outputs, columns, multiprocessors) + launch +
        TimeOf(rest, outputs, BestColumns(rest, outputs, multiprocessors), multiprocessors);
    if (time >= least) continue;
    least = time;
    best = {first, columns};
  }
  return best;
}

}  // namespace reel::kernels
