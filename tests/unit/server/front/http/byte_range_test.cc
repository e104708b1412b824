// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "server/front/http/media_body.h"

namespace reel::front {
namespace {

TEST(ByteRange, OneRangeIsRead) {
  struct Case {
    const char* field;
    int64_t first;
    int64_t last;  // -1: none
    bool suffix;
  };
  for (const Case& c : {Case{"bytes=0-", 0, -1, false}, Case{"bytes=5-9", 5, 9, false},
                        Case{"Bytes= 7-7 ", 7, 7, false}, Case{"bytes=-4", 4, -1, true},
                        Case{"bytes=0-9007199254740991", 0, 9007199254740991, false}}) {
    const auto range = ParseByteRange(c.field);
    ASSERT_TRUE(range) << c.field;
    EXPECT_EQ(range->first, c.first) << c.field;
    EXPECT_EQ(range->last.value_or(-1), c.last) << c.field;
    EXPECT_EQ(range->suffix, c.suffix) << c.field;
  }
}

TEST(ByteRange, OthersArePassedOver) {
  for (const char* field :
       {"", "bytes", "bytes=", "bytes=-", "bytes=a-", "bytes=5-4", "bytes=0-1,3-4", "items=0-1",
        "bytes=1 -2", "bytes=0x1-2", "bytes=-1-2", "bytes=+1-2"}) {
    EXPECT_FALSE(ParseByteRange(field)) << field;
  }
}

TEST(ByteRange, FollowsFromTheNumberOfRfc8673On) {
  EXPECT_TRUE(ParseByteRange("bytes=3-9007199254740991")->follows());
  EXPECT_TRUE(ParseByteRange("bytes=3-99999999999999999999999")->follows());
  EXPECT_FALSE(ParseByteRange("bytes=3-9007199254740990")->follows());
  EXPECT_FALSE(ParseByteRange("bytes=3-")->follows());
  EXPECT_EQ(ParseByteRange("bytes=99999999999999999999-")->first,
            std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace reel::front
