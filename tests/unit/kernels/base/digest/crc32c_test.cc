// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/digest/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace reel {
namespace {

TEST(Crc32c, GivesTheKnownAnswersOfRfc3720) {
  EXPECT_EQ(Crc32c(""), 0U);
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(Crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  std::string rising;
  for (int i = 0; i < 32; ++i) rising.push_back(static_cast<char>(i));
  EXPECT_EQ(Crc32c(rising), 0x46DD794EU);
}

TEST(Crc32c, InstructionAndTablesAgreeForEveryLengthAndAlignment) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += static_cast<char>(i * 37 + 11);
  const std::string_view all(bytes);
  for (size_t start = 0; start < 9; ++start) {
    for (size_t length = 0; start + length <= all.size(); ++length) {
      const std::string_view part = all.substr(start, length);
      ASSERT_EQ(Crc32c(part), Crc32cByTables(part)) << start << " " << length;
    }
  }
}

TEST(Crc32c, IsTheSameInPiecesOfAnySize) {
  std::string text;
  for (int i = 0; i < 100; ++i) text.push_back(static_cast<char>(i * 7));
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    const std::string first = text.substr(0, cut), second = text.substr(cut);
    EXPECT_EQ(Crc32c(second, Crc32c(first)), Crc32c(text)) << cut;
    EXPECT_EQ(Crc32cByTables(second, Crc32cByTables(first)), Crc32c(text)) << cut;
  }
}

TEST(Crc32c, NoticesEverySingleFlippedBit) {
  std::string text = "the file so far plays as it is";
  const uint32_t good = Crc32c(text);
  for (char& byte : text) {
    for (int bit = 0; bit < 8; ++bit) {
      byte = static_cast<char>(byte ^ (1 << bit));
      EXPECT_NE(Crc32c(text), good);
      byte = static_cast<char>(byte ^ (1 << bit));
    }
  }
}

}  // namespace
}  // namespace reel
