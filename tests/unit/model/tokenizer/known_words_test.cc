// SPDX-License-Identifier: Apache-2.0
#include "model/tokenizer/known_words.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reel::model {
namespace {

using ::testing::ElementsAre;

Vocabulary Of(const std::vector<std::string>& pieces) {
  Vocabulary vocabulary;
  for (const char* special : {"<pad>", "</s>", "<unk>"})
    vocabulary.pieces.push_back({special, 0, true});
  for (const std::string& piece : pieces) vocabulary.pieces.push_back({piece, 0, false});
  return vocabulary;
}

TEST(KnownWords, AreThoseOfAVocabularyWithoutPartsOfWords) {
  EXPECT_TRUE(KnownWords::Of(Of({"▁red", "▁", "a", ",", "é", "<spare0>"})));
  EXPECT_FALSE(KnownWords::Of(Of({"▁red", "ing"})));
  EXPECT_FALSE(KnownWords::Of(Of({"▁", "a", "b"})));  // letters only
}

TEST(KnownWords, WhatIsNotListedIsNamedOnceAndWithoutTheMarkBehindIt) {
  const auto known = KnownWords::Of(Of({"▁red", "▁it", "▁a", "▁"}));
  ASSERT_TRUE(known);
  EXPECT_THAT(known->UnknownIn("a red fox, a  fox\tis it... it's"),
              ElementsAre("fox", "is", "it's"));
  EXPECT_THAT(known->UnknownIn(""), ElementsAre());
  EXPECT_THAT(known->UnknownIn(" . , !"), ElementsAre());
  EXPECT_THAT(known->UnknownIn("красный red"), ElementsAre("красный"));
}

}  // namespace
}  // namespace reel::model
