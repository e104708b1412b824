// SPDX-License-Identifier: Apache-2.0
#include "model/tokenizer/t5_tokenizer.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string GoldenFolder() {
  return std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/tokenizer";
}

std::vector<int64_t> WithoutPadding(const TokenIds& tokens) {
  std::vector<int64_t> ids;
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    if (tokens.mask[i] != 0) ids.push_back(tokens.ids[i]);
  }
  return ids;
}

TEST(T5Tokenizer, GivesTheIdsOfTransformers) {
  const auto tokenizer = T5Tokenizer::Load(GoldenFolder());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  const auto golden = ReadJsonFile(GoldenFolder() + "/cases.json");
  ASSERT_TRUE(golden.ok()) << golden.status();
  const nlohmann::json& cases = (*golden)["cases"];
  ASSERT_GT(cases.size(), 600u);
  for (const nlohmann::json& item : cases) {
    const auto text = item["text"].get<std::string>();
    const auto whole = tokenizer->Encode(text, 1024);
    ASSERT_TRUE(whole.ok());
    EXPECT_FALSE(whole->truncated);
    EXPECT_EQ(WithoutPadding(*whole), item["ids"].get<std::vector<int64_t>>()) << item["text"];
    const auto cut = tokenizer->Encode(text, 16);
    EXPECT_EQ(cut->ids, item["ids16"].get<std::vector<int64_t>>()) << item["text"];
    EXPECT_EQ(cut->mask, item["mask16"].get<std::vector<int64_t>>()) << item["text"];
    EXPECT_EQ(cut->truncated, item["ids"].size() > 16);
  }
}

TEST(T5Tokenizer, EncodesNothingAsTheEndAlone) {
  const auto tokenizer = T5Tokenizer::Load(GoldenFolder());
  ASSERT_TRUE(tokenizer.ok());
  const auto tokens = tokenizer->Encode("", 4);
  EXPECT_THAT(tokens->ids, ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(tokens->mask, ElementsAre(1, 0, 0, 0));
}

TEST(T5Tokenizer, CountsTheTokensOfTheWholeText) {
  const auto tokenizer = T5Tokenizer::Load(GoldenFolder());
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_EQ(tokenizer->Encode("", 4)->text_tokens, 1);
  const std::string text = "one two three four five six";
  const auto whole = tokenizer->Encode(text, 1024), cut = tokenizer->Encode(text, 4);
  EXPECT_EQ(static_cast<size_t>(whole->text_tokens), WithoutPadding(*whole).size());
  EXPECT_FALSE(whole->truncated);
  EXPECT_EQ(cut->text_tokens, whole->text_tokens);
  EXPECT_TRUE(cut->truncated);
}

TEST(T5Tokenizer, TheDemosVocabularyListsItsWordsAndThatOfT5DoesNot) {
  const auto demo =
      T5Tokenizer::Load(std::string(std::getenv("REEL_SOURCE")) + "/model/demo/weights/tokenizer");
  ASSERT_TRUE(demo.ok()) << demo.status();
  EXPECT_THAT(demo->UnknownWords("A red Circle, bouncing over blue waves!"), ElementsAre());
  EXPECT_THAT(demo->UnknownWords("a fox, and a fox in the snow (red)"),
              ElementsAre("fox", "snow", "(red"));
  const auto t5 = T5Tokenizer::Load(GoldenFolder());
  ASSERT_TRUE(t5.ok());
  EXPECT_THAT(t5->UnknownWords("a fox in the snow"), ElementsAre());
}

TEST(T5Tokenizer, RefusesWhatIsNotUtf8WithoutQuotingIt) {
  const auto tokenizer = T5Tokenizer::Load(GoldenFolder());
  ASSERT_TRUE(tokenizer.ok());
  for (const std::string text :
       {"secret \xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x96"}) {
    const auto tokens = tokenizer->Encode(text, 8);
    EXPECT_EQ(tokens.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(tokens.status().message()), Not(HasSubstr("secret")));
  }
  EXPECT_FALSE(tokenizer->Encode("a", 0).ok());
}

// spiece.model as sentencepiece would write it, by hand.
std::string Field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) +
         std::string(1, static_cast<char>(bytes.size())) + bytes;
}
std::string PieceOf(const std::string& text) {
  return Field(1, Field(1, text) + std::string("\x15\x00\x00\x80\xbf", 5));
}
std::string SmallModel() {
  return PieceOf("<pad>") + PieceOf("</s>") + PieceOf("<unk>") + PieceOf("\xe2\x96\x81") +
         PieceOf("a");
}

TEST(T5Tokenizer, ReadsTokenizerJsonWhereThereIsNoModel) {
  const reel::testing::TempFolder folder;
  folder.Write("tokenizer.json",
               R"({"normalizer":null,"model":{"type":"Unigram","unk_id":2,"vocab":[["<pad>",0.0],
                  ["</s>",0.0],["<unk>",0.0],["▁a",-1.5],["b",-2],["<extra_id_0>",0.0]]}})");
  const auto tokenizer = T5Tokenizer::Load(folder.path());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_THAT(tokenizer->Encode("ab<extra_id_0>a", 6)->ids, ElementsAre(3, 4, 5, 3, 1, 0));
}

TEST(T5Tokenizer, TakesTheNumberOfSentinelsFromTheConfiguration) {
  const reel::testing::TempFolder folder;
  folder.Write("spiece.model", SmallModel());
  EXPECT_EQ(T5Tokenizer::Load(folder.path())->size(), 105);
  folder.Write("tokenizer_config.json", R"({"extra_ids":0})");
  EXPECT_EQ(T5Tokenizer::Load(folder.path())->size(), 5);
}

TEST(T5Tokenizer, NamesTheMissingFile) {
  const reel::testing::TempFolder folder;
  const auto tokenizer = T5Tokenizer::Load(folder.path());
  EXPECT_EQ(tokenizer.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(tokenizer.status().message()), HasSubstr("spiece.model"));
}

class BadModel : public ::testing::TestWithParam<std::string> {};

TEST_P(BadModel, IsRefused) {
  const auto vocabulary = ParseSpieceModel(GetParam(), "m");
  if (!vocabulary.ok()) {
    EXPECT_EQ(vocabulary.status().code(), absl::StatusCode::kFailedPrecondition);
    return;
  }
  EXPECT_EQ(T5Tokenizer::Make(*vocabulary).status().code(), absl::StatusCode::kFailedPrecondition);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadModel,
    ::testing::Values("x", SmallModel().substr(0, 20),
                      std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
                      PieceOf("a") + SmallModel(), SmallModel() + PieceOf(""),
                      // Taken out of a text, half a character would leave the other half.
                      SmallModel() + PieceOf("\x96"),
                      SmallModel() + Field(1, Field(1, "a") + "\x15\x01"),
                      SmallModel() + Field(3, Field(2, "abc")),
                      SmallModel() + Field(3, Field(2, std::string("\x08\0\0\0abcd", 8))),
                      SmallModel() + Field(3, Field(2, std::string("\x04\0\0\0abcd\xff", 9)))));

TEST(T5Tokenizer, SurvivesAMapThatPointsAnywhere) {
  Vocabulary vocabulary = *ParseSpieceModel(SmallModel(), "m");
  for (uint32_t unit : {0xffffffffu, 0x61u, 0x161u, 0x7fffffffu, 0x3e1u}) {
    std::string map("\x10\0\0\0", 4);
    for (int i = 0; i < 4; ++i) map.append(reinterpret_cast<const char*>(&unit), 4);
    vocabulary.charsmap = map + "\xc3\xa9";
    const auto tokenizer = T5Tokenizer::Make(vocabulary);
    ASSERT_TRUE(tokenizer.ok());
    for (char c = 1; c > 0; ++c) EXPECT_TRUE(tokenizer->Encode(std::string(3, c), 8).ok());
  }
}

}  // namespace
}  // namespace reel::model
