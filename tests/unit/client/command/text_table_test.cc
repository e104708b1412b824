// SPDX-License-Identifier: Apache-2.0
#include "client/command/text_table.h"

#include <gtest/gtest.h>

namespace reel::client {
namespace {

TEST(TextTable, AlignsColumnsAndCountsCharactersNotBytes) {
  TextTable table({"NAME", "PROMPT", "N"});
  table.AddRow({"a", "\xC3\xA4\xC3\xB6", "1"});
  table.AddRow({"longer", "x", ""});
  EXPECT_EQ(table.Render(),
            "NAME    PROMPT  N\n"
            "a       \xC3\xA4\xC3\xB6      1\n"
            "longer  x\n");
}

TEST(TextTable, LetsNoCellSteerTheTerminal) {
  TextTable table({"P"});
  table.AddRow({"a\033[31m\nb"});
  EXPECT_EQ(table.Render(), "P\na [31m b\n");
}

TEST(Ellipsized, CutsBetweenCharacters) {
  EXPECT_EQ(Ellipsized("short", 5), "short");
  EXPECT_EQ(Ellipsized("longer", 5), "lo...");
  EXPECT_EQ(Ellipsized("\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4", 5),
            "\xC3\xA4\xC3\xA4...");
}

TEST(Bar, IsAsLongAsTheShareAndNeverLongerThanItsColumns) {
  EXPECT_EQ(Bar(0, 8), "");
  EXPECT_EQ(Bar(0.5, 8), "####");
  EXPECT_EQ(Bar(0.57, 8), "#####");
  EXPECT_EQ(Bar(7, 8), "########");
  EXPECT_EQ(Bar(-1, 8), "");
}

}  // namespace
}  // namespace reel::client
