// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace reel::front {
namespace {

// Known answers: RFC 3720 B.4 and the check value of the CRC catalogue.
TEST(Crc32c, GivesTheKnownAnswers) {
  EXPECT_EQ(Crc32c(""), 0U);
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(Crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  std::string rising;
  for (int i = 0; i < 32; ++i) rising += static_cast<char>(i);
  EXPECT_EQ(Crc32c(rising), 0x46DD794EU);
}

TEST(Crc32c, InstructionAndTableAgreeForEveryLengthAndAlignment) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += static_cast<char>(i * 37 + 11);
  const std::string_view all(bytes);
  for (size_t start = 0; start < 9; ++start) {
    for (size_t length = 0; start + length <= all.size(); ++length) {
      const std::string_view part = all.substr(start, length);
      ASSERT_EQ(Crc32c(part), Crc32cByTable(part)) << start << " " << length;
    }
  }
}

}  // namespace
}  // namespace reel::front
