// SPDX-License-Identifier: Apache-2.0
#include "server/worker/link/media_pieces.h"

#include <gtest/gtest.h>

#include <string>

namespace reel::worker {
namespace {

TEST(MediaPieces, CutsLongMediaSoThatOnlyTheLastPieceEndsTheFragment) {
  std::string bytes(2 * kMediaPieceBytes + 7, 'x');
  bytes.back() = 'y';
  const auto pieces = CutMedia({1000, bytes, true});
  ASSERT_EQ(pieces.size(), 3u);
  std::string joined;
  for (size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(pieces[i].offset, 1000 + static_cast<int64_t>(joined.size()));
    EXPECT_EQ(pieces[i].fragment_end, i == 2);
    joined += pieces[i].bytes;
  }
  EXPECT_EQ(joined, bytes);
}

TEST(MediaPieces, LeavesSmallAndFullPiecesWhole) {
  for (const size_t size : {size_t{0}, size_t{1}, kMediaPieceBytes}) {
    const auto pieces = CutMedia({0, std::string(size, 'x'), false});
    ASSERT_EQ(pieces.size(), 1u) << size;
    EXPECT_EQ(pieces[0].bytes.size(), size);
    EXPECT_FALSE(pieces[0].fragment_end);
  }
}

}  // namespace
}  // namespace reel::worker
