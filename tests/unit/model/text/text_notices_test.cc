// SPDX-License-Identifier: Apache-2.0
#include "model/text/text_notices.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reel::model {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

auto IsNotice(const std::string& code, const std::string& part) {
  return AllOf(Field(&Notice::code, code), Field(&Notice::message, HasSubstr(part)));
}

TEST(TextNotices, ATextThatFitsIsOnlyCounted) {
  TextFacts facts;
  AddText(TextRole::kPrompt, {128, {}}, 128, facts);
  AddText(TextRole::kNegativePrompt, {3, {}}, 128, facts);
  EXPECT_EQ(facts.prompt_tokens, 128);
  EXPECT_EQ(facts.negative_prompt_tokens, 3);
  EXPECT_THAT(facts.notices, ElementsAre());
}

TEST(TextNotices, ACutTextIsNamedWithItsLength) {
  TextFacts facts;
  AddText(TextRole::kPrompt, {129, {}}, 128, facts);
  AddText(TextRole::kNegativePrompt, {300, {}}, 128, facts);
  EXPECT_THAT(facts.notices, ElementsAre(IsNotice("PROMPT_CUT", "The prompt has 129 tokens"),
                                         IsNotice("PROMPT_CUT", "The negative prompt has 300")));
}

TEST(TextNotices, UnknownWordsAreListedUpToALimit) {
  TextFacts facts;
  AddText(TextRole::kPrompt, {9, {"fox", "snow"}}, 128, facts);
  EXPECT_THAT(facts.notices, ElementsAre(IsNotice("UNKNOWN_WORDS", "\"fox\", \"snow\".")));
  facts.notices.clear();
  std::vector<std::string> many(20, "ä" + std::string(40, 'x') + "end");
  AddText(TextRole::kPrompt, {9, many}, 128, facts);
  EXPECT_THAT(facts.notices, ElementsAre(IsNotice("UNKNOWN_WORDS", "and 12 more.")));
  EXPECT_THAT(facts.notices[0].message, Not(HasSubstr("end\"")));
  EXPECT_LT(facts.notices[0].message.size(), 500u);
}

}  // namespace
}  // namespace reel::model
