// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/prompts.h"

#include <fstream>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "model/ltx2/ltx2_model.h"
#include "tests/fakes/tiny_ltx2.h"
#include "tests/unit/model/bridge/test_run.h"

namespace reel::model::ltx2 {
namespace {

constexpr int kLength = 64;

class PromptsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    LoadOptions options;
    options.path = folder_.path();
    auto model = LoadLtx2Model(options, at::kCPU);
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
  }
  ConnectedPrompt Encode(const std::string& text, int length = kLength) {
    const auto prompt = model_->prompts.Encode(Ops(test_.run), text, length);
    EXPECT_TRUE(prompt.ok()) << prompt.status();
    return prompt.ok() ? *prompt : ConnectedPrompt();
  }

  const TinyFolder folder_{"2.3"};
  const TestRun test_;
  std::unique_ptr<Ltx2Model> model_;
};

TEST_F(PromptsTest, FillWhateverLengthIsAskedFor) {
  for (const int length : {32, 64, 1024}) {
    const Texts texts = Encode("a red fox", length).texts;
    EXPECT_EQ(texts.video.sizes(), (at::IntArrayRef{1, length, 48}));
    EXPECT_EQ(texts.audio.sizes(), (at::IntArrayRef{1, length, 32}));
  }
}

TEST_F(PromptsTest, RefuseALengthThatRegistersDoNotFill) {
  EXPECT_TRUE(model_->prompts.CheckLength(24).ok());
  const absl::Status refused = model_->prompts.CheckLength(28);
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(refused.message()).find("multiples of 8"), std::string::npos);
}

TEST_F(PromptsTest, RememberWhatTheConnectorsMade) {
  const ConnectedPrompt first = Encode("a red fox");
  EXPECT_GT(model_->prompts.remembered_bytes(), 0);
  EXPECT_EQ(Encode("a red fox").texts.video.data_ptr(), first.texts.video.data_ptr());
  Encode("a red fox", 32);
  const PromptCounts counts = model_->prompts.TakeCounts();
  EXPECT_EQ(counts.encoded, 2);
  EXPECT_EQ(counts.remembered, 1);
  model_->prompts.Forget();
  EXPECT_EQ(model_->prompts.remembered_bytes(), 0);
  EXPECT_TRUE(at::equal(Encode("a red fox").texts.video, first.texts.video));
  EXPECT_EQ(model_->prompts.TakeCounts().encoded, 1);
}

// As Gemma 4 comes, whose files put nothing in front.
TEST_F(PromptsTest, BeginAsIsAskedWhateverTheTokenizerDoes) {
  std::ofstream(folder_.path() + "/tokenizer/tokenizer_config.json")
      << R"({"add_bos_token": false})";
  const ConnectedPrompt stored = Encode("a red fox");
  SetUp();
  const auto encoded = [&](BeginToken begin) {
    return *model_->prompts.Encode(Ops(test_.run), "a red fox", kLength, begin);
  };
  const ConnectedPrompt bare = encoded(BeginToken::kAsStored), begun = encoded(BeginToken::kAlways);
  EXPECT_EQ(begun.summary.tokens, bare.summary.tokens + 1);
  EXPECT_FALSE(at::equal(begun.texts.video, bare.texts.video));
  EXPECT_TRUE(at::equal(begun.texts.video, stored.texts.video));
}

TEST_F(PromptsTest, ReadAsManyTokensAsFitAndCountAll) {
  const std::string fox = "a red fox walks through a snowy forest, ";
  const ConnectedPrompt cut = Encode(fox + fox + fox + fox, 16);
  EXPECT_GT(cut.summary.tokens, 16);
  EXPECT_EQ(cut.texts.video.size(1), 16);  // all of them the prompt's: there is no register
  EXPECT_TRUE(at::equal(cut.texts.video, Encode(fox + fox + fox, 16).texts.video));
}

TEST_F(PromptsTest, TakeAnEmptyText) {
  const ConnectedPrompt empty = Encode("");
  EXPECT_EQ(empty.summary.tokens, 1);
  EXPECT_TRUE(at::isfinite(empty.texts.video).all().item<bool>());
}

// Such a text has no token at all where the tokenizer puts none in front: its texts are registers.
TEST_F(PromptsTest, AreRegistersAloneOfAnEmptyTextWithoutAToken) {
  const ConnectedPrompt begun = Encode("");
  std::ofstream(folder_.path() + "/tokenizer/tokenizer_config.json")
      << R"({"add_bos_token": false})";
  SetUp();
  const ConnectedPrompt empty = Encode(" "), text = Encode("a red fox");
  EXPECT_EQ(empty.summary.tokens, 0);
  EXPECT_EQ(empty.texts.video.sizes(), text.texts.video.sizes());
  EXPECT_TRUE(at::isfinite(empty.texts.video).all().item<bool>());
  EXPECT_TRUE(at::equal(empty.texts.audio,
                        model_->prompts.connectors().OfNoText(Ops(test_.run), kLength).audio));
  EXPECT_FALSE(at::equal(empty.texts.video, begun.texts.video));
}

TEST(Stripped, LeavesWhiteSpaceWithinATextAlone) {
  EXPECT_EQ(Stripped(" \t\n\u3000a red\u00a0fox\u2028\x1f\r\n"), "a red\u00a0fox");
  EXPECT_EQ(Stripped("\u200bfox"), "\u200bfox");  // of no width, which Python keeps
  EXPECT_EQ(Stripped(" \u00a0 "), "");
  EXPECT_EQ(Stripped(""), "");
}

}  // namespace
}  // namespace reel::model::ltx2
