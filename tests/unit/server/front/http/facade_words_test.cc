// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/facade_words.h"

#include <gtest/gtest.h>

namespace reel::front {
namespace {

TEST(FacadeWords, ForeignOnesCountOnlyIfTheyAskForSomething) {
  for (const std::string& word : FacadeWords()) EXPECT_EQ(FindForeignWord(word), nullptr) << word;
  const ForeignWord* count = FindForeignWord("num_outputs_per_prompt");
  ASSERT_NE(count, nullptr);
  EXPECT_FALSE(IsFacadeWord("num_outputs_per_prompt"));
  EXPECT_TRUE(AsksForNothing(*count, "1"));
  EXPECT_TRUE(AsksForNothing(*count, "null"));
  EXPECT_FALSE(AsksForNothing(*count, "2"));
  EXPECT_TRUE(AsksForNothing(*FindForeignWord("enable_teacache"), "False"));
  EXPECT_FALSE(AsksForNothing(*FindForeignWord("enable_teacache"), "true"));
  EXPECT_TRUE(AsksForNothing(*FindForeignWord("user"), "somebody"));
  EXPECT_EQ(FindForeignWord("nothing"), nullptr);
}

}  // namespace
}  // namespace reel::front
