// SPDX-License-Identifier: Apache-2.0
#include "client/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace reel::client {
namespace {

TEST(Crc32c, GivesTheKnownAnswersOfRfc3720) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
  std::string rising;
  for (int i = 0; i < 32; ++i) rising.push_back(static_cast<char>(i));
  EXPECT_EQ(Crc32c(rising), 0x46DD794Eu);
}

TEST(Crc32c, IsTheSameInPiecesOfAnySize) {
  std::string text;
  for (int i = 0; i < 100; ++i) text.push_back(static_cast<char>(i * 7));
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(Crc32c(text.substr(cut), Crc32c(text.substr(0, cut))), Crc32c(text)) << cut;
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
}  // namespace reel::client
