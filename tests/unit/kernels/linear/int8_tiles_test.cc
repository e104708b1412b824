// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/linear/int8_tiles_layout.h"

namespace reel::kernels {
namespace {

constexpr int kMultiprocessors = 132;

TEST(RowCut, IsOneLaunchWhereAllTilesAreMadeAtOnce) {
  for (const int64_t rows : {1, 128, 512}) {
    SCOPED_TRACE(rows);
    EXPECT_EQ(BestCut(rows, 2048, 2048, kMultiprocessors).first_rows, rows);
  }
}

TEST(RowCut, GivesFewRowsNarrowTilesSoThatMoreBlocksHaveOne) {
  EXPECT_EQ(BestColumns(512, 2048, kMultiprocessors), 64);
  EXPECT_EQ(BestColumns(5376, 2048, kMultiprocessors), 256);
}

// 42 by 8 tiles on 132 multiprocessors: two each, and 72 that would leave 60 idle.
TEST(RowCut, CutsRowsThatWouldLeaveMultiprocessorsIdleAtTheEnd) {
  const RowCut cut = BestCut(5376, 8192, 2048, kMultiprocessors);
  EXPECT_EQ(cut.first_columns, 256);
  EXPECT_EQ(cut.first_rows, 33 * kInt8TileRows);
  EXPECT_EQ(BestColumns(5376 - cut.first_rows, 2048, kMultiprocessors), 192);
}

TEST(RowCut, IsOneLaunchWhereASecondCostsMoreThanItGains) {
  EXPECT_EQ(BestCut(5376, 128, 2048, kMultiprocessors).first_rows, 5376);
}

TEST(RowCut, IsOfWholeTilesAndNoSlowerThanOneLaunchAtAnySize) {
  for (int64_t rows = 1; rows < 30'000; rows += 61) {
    for (const int64_t outputs : {8, 264, 2048, 6144, 8192}) {
      for (const int multiprocessors : {1, 78, 132}) {
        const RowCut cut = BestCut(rows, 8192, outputs, multiprocessors);
        ASSERT_TRUE(cut.first_rows == rows || (cut.first_rows % kInt8TileRows == 0 &&
                                               cut.first_rows > 0 && cut.first_rows < rows))
            << rows << " " << outputs << " " << multiprocessors;
        const auto time = [&](int64_t part) {
          const int columns = BestColumns(part, outputs, multiprocessors);
          return part == 0 ? 0 : TimeOf(part, outputs, columns, multiprocessors);
        };
        ASSERT_LE(TimeOf(cut.first_rows, outputs, cut.first_columns, multiprocessors) +
                      time(rows - cut.first_rows),
                  time(rows));
      }
    }
  }
}

}  // namespace
}  // namespace reel::kernels
