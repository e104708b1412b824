// SPDX-License-Identifier: Apache-2.0
// Turning itself is tested with the goldens of picture_decoder_test.cc.
#include "server/worker/media/orientation.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reel::worker {
namespace {

TEST(Orientation, IsUprightWhereNothingIsSaid) {
  for (const std::string& bytes :
       {std::string(), std::string("\xFF\xD8\xFF"), std::string("\x89PNG\r\n\x1A\n"),
        std::string("RIFF....WEBP"), std::string("\xFF\xD8\xFF\xE1\0\0", 6),
        std::string("\xFF\xD8\xFF\xE1\0\x0A"
                    "Exif\0\0II",
                    14)}) {
    EXPECT_EQ(ExifOrientation(bytes), kUpright);
  }
}

// 0 of a display matrix's numbers are 16.16, and its last column 2.30.
TEST(Orientation, ReadsQuarterTurnsOfTracks) {
  const int32_t one = 1 << 16;
  const auto of = [](int32_t a, int32_t b, int32_t c, int32_t d) {
    return MatrixOrientation(std::vector<int32_t>{a, b, 0, c, d, 0, 0, 0, 1 << 30});
  };
  EXPECT_EQ(of(one, 0, 0, one), 1);
  EXPECT_EQ(of(0, one, -one, 0), 6);
  EXPECT_EQ(of(-one, 0, 0, -one), 3);
  EXPECT_EQ(of(0, -one, one, 0), 8);
  EXPECT_EQ(of(-one, 0, 0, one), 2);
  EXPECT_EQ(of(one, one, -one, one), kUpright);  // an eighth turn
  EXPECT_EQ(MatrixOrientation({}), kUpright);
}

}  // namespace
}  // namespace reel::worker
