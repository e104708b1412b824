// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/media_type.h"

#include <gtest/gtest.h>

#include <string>

namespace reel::front {
namespace {

TEST(MediaType, NamesTheCodecOfTheFile) {
  EXPECT_EQ(MediaTypeOfBytes(std::string("....avcC\x01\x64\x00\x1e....", 16)),
            "video/mp4; codecs=\"avc1.64001e\"");
  EXPECT_EQ(MediaTypeOfBytes(std::string("....avcC\x01\x64", 10)), "video/mp4");
  EXPECT_EQ(MediaTypeOfBytes(std::string("....avcC\x01\x64\x00\x1e....mp4a....", 24)),
            "video/mp4; codecs=\"avc1.64001e, mp4a.40.2\"");
  EXPECT_EQ(MediaTypeOfBytes(std::string(3000, '.') + "avcC...."), "video/mp4");
  EXPECT_EQ(MediaTypeOfBytes(""), "video/mp4");
}

}  // namespace
}  // namespace reel::front
