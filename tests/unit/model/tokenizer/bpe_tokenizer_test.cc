// SPDX-License-Identifier: Apache-2.0
#include "model/tokenizer/bpe_tokenizer.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/temp_folder.h"

namespace reel::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string BpeGolden(const std::string& name) {
  return std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/bpe_tokenizer/" + name;
}

nlohmann::json GoldenFile() { return *ReadJsonFile(BpeGolden("with_bos/tokenizer.json")); }

std::string WhyRefused(const nlohmann::json& file) {
  return std::string(ParseBpeVocabulary(file.dump(), "a.json").status().message());
}

class BpeTokenizerTest : public ::testing::TestWithParam<std::string> {};

TEST_P(BpeTokenizerTest, GivesTheIdsOfTransformers) {
  const auto tokenizer = BpeTokenizer::Load(BpeGolden(GetParam()));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  const auto golden = ReadJsonFile(BpeGolden(GetParam() + "/cases.json"));
  ASSERT_TRUE(golden.ok()) << golden.status();
  const nlohmann::json& cases = (*golden)["cases"];
  ASSERT_GT(cases.size(), 600u);
  for (const nlohmann::json& item : cases) {
    const auto text = item["text"].get<std::string>();
    const auto ids = item["ids"].get<std::vector<int64_t>>();
    const auto whole = tokenizer->Encode(text, 1024);
    ASSERT_TRUE(whole.ok());
    EXPECT_FALSE(whole->truncated);
    EXPECT_EQ(static_cast<size_t>(whole->text_tokens), ids.size());
    EXPECT_EQ(std::vector(whole->ids.end() - whole->text_tokens, whole->ids.end()), ids)
        << item["text"];
    const auto cut = tokenizer->Encode(text, 16);
    EXPECT_EQ(cut->ids, item["ids16"].get<std::vector<int64_t>>()) << item["text"];
    EXPECT_EQ(cut->mask, item["mask16"].get<std::vector<int64_t>>()) << item["text"];
    EXPECT_EQ(cut->truncated, ids.size() > 16);
  }
}
INSTANTIATE_TEST_SUITE_P(All, BpeTokenizerTest, ::testing::Values("with_bos", "without_bos"));

TEST(BpeTokenizer, EncodesNothingAsWhatStandsInFront) {
  const auto with = BpeTokenizer::Load(BpeGolden("with_bos"));
  EXPECT_THAT(with->Encode("", 4)->ids, ElementsAre(0, 0, 0, 2));
  EXPECT_THAT(with->Encode("", 4)->mask, ElementsAre(0, 0, 0, 1));
  const auto without = BpeTokenizer::Load(BpeGolden("without_bos"));
  EXPECT_THAT(without->Encode("", 2)->ids, ElementsAre(0, 0));
}

TEST(BpeTokenizer, PutsItsFirstPieceInFrontOnceWhereThatIsAsked) {
  for (const char* folder : {"with_bos", "without_bos"}) {
    const auto tokenizer = BpeTokenizer::Load(BpeGolden(folder));
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
    EXPECT_THAT(tokenizer->Encode("", 3, BeginToken::kAlways)->ids, ElementsAre(0, 0, 2)) << folder;
    const auto text = tokenizer->Encode("a red fox", 32, BeginToken::kAlways);
    EXPECT_EQ(std::count(text->ids.begin(), text->ids.end(), 2), 1) << folder;
  }
}

TEST(BpeTokenizer, ReadsMergesOfOlderFilesToo) {
  nlohmann::json file = GoldenFile();
  for (nlohmann::json& merge : file["model"]["merges"]) {
    merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  }
  auto vocabulary = ParseBpeVocabulary(file.dump(), "a.json");
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  const BpeTokenizer older(*std::move(vocabulary));
  const auto newer = BpeTokenizer::Load(BpeGolden("with_bos"));
  EXPECT_EQ(older.Encode("a red fox walks", 32)->ids, newer->Encode("a red fox walks", 32)->ids);
}

TEST(BpeTokenizer, TheConfigurationDecidesWhatStandsInFront) {
  const auto with_config = [](const std::string& config) {
    const reel::testing::TempFolder folder;
    std::filesystem::copy_file(BpeGolden("with_bos/tokenizer.json"), folder.File("tokenizer.json"));
    folder.Write("tokenizer_config.json", config);
    return BpeTokenizer::Load(folder.path());
  };
  EXPECT_THAT(with_config(R"({"add_bos_token": false})")->Encode("", 1)->ids, ElementsAre(0));
  EXPECT_THAT(with_config(R"({"add_bos_token": true})")->Encode("", 1)->ids, ElementsAre(2));
  EXPECT_THAT(with_config("{}")->Encode("", 1)->ids, ElementsAre(2));
  EXPECT_THAT(with_config(R"({"add_bos_token": 3})").status().message(),
              HasSubstr("add_bos_token"));
}

TEST(BpeTokenizer, RefusesTextsThatAreNone) {
  const auto tokenizer = BpeTokenizer::Load(BpeGolden("with_bos"));
  EXPECT_FALSE(tokenizer->Encode("a", 0).ok());
  const auto broken = tokenizer->Encode("secret \xff", 8);
  EXPECT_EQ(broken.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(broken.status().message(), ::testing::Not(HasSubstr("secret")));
}

TEST(BpeTokenizer, NamesWhatItDoesNotSupport) {
  const auto refused = [](auto change) {
    nlohmann::json file = GoldenFile();
    change(file);
    return WhyRefused(file);
  };
  EXPECT_THAT(refused([](auto& f) { f["model"]["type"] = "WordPiece"; }), HasSubstr("not BPE"));
  EXPECT_THAT(refused([](auto& f) { f["model"]["byte_fallback"] = false; }),
              HasSubstr("byte_fallback"));
  EXPECT_THAT(refused([](auto& f) { f["model"]["dropout"] = 0.1; }), HasSubstr("dropout"));
  EXPECT_THAT(refused([](auto& f) { f["model"]["ignore_merges"] = true; }),
              HasSubstr("ignore_merges"));
  EXPECT_THAT(refused([](auto& f) { f["normalizer"] = {{"type", "NFKC"}}; }),
              HasSubstr("normalizer"));
  EXPECT_THAT(refused([](auto& f) { f["pre_tokenizer"] = {{"type", "ByteLevel"}}; }),
              HasSubstr("pre_tokenizer"));
  EXPECT_THAT(refused([](auto& f) { f["post_processor"]["single"].push_back({}); }),
              HasSubstr("post_processor"));
  EXPECT_THAT(refused([](auto& f) { f["added_tokens"][0]["lstrip"] = true; }), HasSubstr("lstrip"));
  EXPECT_THAT(refused([](auto& f) { f["model"]["vocab"].erase("<0x41>"); }), HasSubstr("<0x41>"));
  EXPECT_THAT(refused([](auto& f) { f["model"]["vocab"]["a"] = 1; }), HasSubstr("two pieces"));
  EXPECT_THAT(refused([](auto& f) { f["model"]["vocab"]["a"] = -1; }), HasSubstr("an id"));
  EXPECT_THAT(refused([](auto& f) { f["model"]["merges"].push_back({"q", "qq"}); }),
              HasSubstr("names no pieces"));
  EXPECT_THAT(refused([](auto& f) { f["model"]["merges"].push_back(7); }), HasSubstr("malformed"));
}

}  // namespace
}  // namespace reel::model
