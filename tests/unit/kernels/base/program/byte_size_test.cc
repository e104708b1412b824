// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/byte_size.h"

#include <gtest/gtest.h>

namespace reel {
namespace {

TEST(ByteSize, IsReadInTheUnitsOfCards) {
  EXPECT_EQ(ParseByteSize("24GB"), 24'000'000'000);
  EXPECT_EQ(ParseByteSize("24 GB"), 24'000'000'000);
  EXPECT_EQ(ParseByteSize("23.5GiB"), 47 * (int64_t{1} << 29));
  EXPECT_EQ(ParseByteSize("800MB"), 800'000'000);
  EXPECT_EQ(ParseByteSize("1 MiB"), 1 << 20);
  EXPECT_EQ(ParseByteSize("4096"), 4096);
  EXPECT_EQ(WhyNotByteSize("24GB"), "");
}

TEST(ByteSize, IsNothingElse) {
  for (const char* bad : {"", "GB", "24G", "24gb", "-1GB", "+1GB", " 1GB", "0", "0GB", "nan",
                          "infGB", "1e30GB", "2000000GB", "1GBGB", "1 GB ", "0x10"}) {
    EXPECT_EQ(ParseByteSize(bad), std::nullopt) << bad;
    EXPECT_NE(WhyNotByteSize(bad), "") << bad;
  }
}

}  // namespace
}  // namespace reel
