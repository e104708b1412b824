// SPDX-License-Identifier: Apache-2.0
#include "model/utf8.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reel::model {
namespace {

using ::testing::Optional;

TEST(CountCharacters, CountsCodePoints) {
  EXPECT_THAT(CountCharacters(""), Optional(0));
  EXPECT_THAT(CountCharacters("a fox"), Optional(5));
  EXPECT_THAT(CountCharacters("\xC3\xA4\xE2\x82\xAC\xF0\x9F\xA6\x8A"), Optional(3));
  EXPECT_THAT(CountCharacters("\xF4\x8F\xBF\xBF"), Optional(1));
}

TEST(CountCharacters, RefusesWhatIsNotWellFormed) {
  for (const char* text : {"\x80", "a\xFF", "\xC0\xAF", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80",
                           "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82",
                           "\xF0\x9F\xA6", "\xC3", "\xE2\x28\xA1"}) {
    EXPECT_EQ(CountCharacters(text), std::nullopt) << ::testing::PrintToString(text);
  }
}

TEST(Quoted, ShowsOnlyPrintableTextOfBoundedLength) {
  EXPECT_EQ(Quoted("plain"), "'plain'");
  EXPECT_EQ(Quoted("a'b\n+"), "'a?b?+'");
  EXPECT_EQ(Quoted(std::string(100, 'x')), "'" + std::string(64, 'x') + "...'");
}

}  // namespace
}  // namespace reel::model
