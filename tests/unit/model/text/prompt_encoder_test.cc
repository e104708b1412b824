// SPDX-License-Identifier: Apache-2.0
#include "model/text/prompt_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/text/text_folder.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/unit/model/bridge/test_run.h"

namespace reel::model {
namespace {

constexpr int kLength = 24;

class PromptEncoderTest : public ::testing::Test {
 protected:
  PromptEncoder Load(int64_t cache_bytes) {
    LoadOptions options;
    options.path = folder_.path();
    return std::move(*LoadPromptEncoder(options, at::kFloat, at::kCPU, cache_bytes));
  }
  Prompt Encode(PromptEncoder& prompts, const std::string& text, bool masked = false) {
    return (*prompts.Encode(Ops(test_.run), {text}, kLength, masked))[0];
  }

  const ltx::TinyFolder folder_{"0.9.5"};
  TestRun test_;
};

TEST_F(PromptEncoderTest, GivesARememberedPromptAgain) {
  PromptEncoder prompts = Load(1 << 20);
  const Prompt first = Encode(prompts, "a red fox"), again = Encode(prompts, "a red fox");
  EXPECT_EQ(first.embeddings.data_ptr(), again.embeddings.data_ptr());
  EXPECT_EQ(first.embeddings.size(1), kLength);
  EXPECT_LE(first.summary.tokens, kLength);
}

TEST_F(PromptEncoderTest, TakesSeveralTextsEachOnceWithTheBitsOfEachAlone) {
  PromptEncoder prompts = Load(1 << 20), others = Load(1 << 20);
  const Prompt known = Encode(prompts, "a red fox");
  const std::vector<std::string> texts = {"blurry", "a red fox", "snow", "blurry"};
  const Ops ops(test_.run);
  const auto encoded = prompts.Encode(ops, texts, kLength, false);
  ASSERT_TRUE(encoded.ok()) << encoded.status();
  ASSERT_EQ(encoded->size(), texts.size());
  EXPECT_EQ((*encoded)[1].embeddings.data_ptr(), known.embeddings.data_ptr());
  EXPECT_EQ((*encoded)[3].embeddings.data_ptr(), (*encoded)[0].embeddings.data_ptr());
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_TRUE((*encoded)[i].embeddings.equal(Encode(others, texts[i]).embeddings)) << texts[i];
  }
}

TEST_F(PromptEncoderTest, IdenticalTextsOfSeveralRequestsAreEncodedOnce) {
  PromptEncoder prompts = Load(1 << 20);
  const Ops ops(test_.run);
  for (int request = 0; request < 3; ++request) {
    ASSERT_TRUE(prompts.Encode(ops, {"a red fox", "blurry", "blurry"}, kLength, false).ok());
  }
  const PromptCounts counts = prompts.TakeCounts();
  EXPECT_EQ(counts.encoded, 2);
  EXPECT_EQ(counts.remembered, 4);
  EXPECT_EQ(prompts.TakeCounts().remembered, 0) << "they were taken";
}

// A plan that differs for texts, and one that differs elsewhere.
TEST_F(PromptEncoderTest, TellsPlansApartWhereTheyChangeATextsEmbeddings) {
  PromptEncoder prompts = Load(1 << 20);
  const auto encode = [&](const kernels::KernelPlan& plan) {
    kernels::KernelCounters counters;
    const kernels::Execution run{plan, counters, nullptr, test_.run.stream};
    return (*prompts.Encode(Ops(run), {"a red fox"}, kLength, false))[0];
  };
  const kernels::KernelCatalog& catalog = DeviceUnderTest()->catalog;
  const Prompt reference = encode(*catalog.Plan("reference", {}));
  EXPECT_EQ(prompts.TakeCounts().encoded, 1);
  encode(*catalog.Plan("batch_invariant", {}));
  EXPECT_EQ(prompts.TakeCounts().encoded, 1) << "its sums may come in another order";
  encode(*catalog.Plan("reference", {{"rms_norm", "loops"}}));
  EXPECT_EQ(prompts.TakeCounts().encoded, 1);
  const Prompt other = encode(*catalog.Plan("reference", {{"conv3d", "aten"}}));
  EXPECT_EQ(prompts.TakeCounts().encoded, 0) << "no text has a convolution";
  EXPECT_EQ(other.embeddings.data_ptr(), reference.embeddings.data_ptr());
}

TEST_F(PromptEncoderTest, KnowsEveryOperatorOfATextEncoder) {
  PromptEncoder prompts = Load(1 << 20);
  Encode(prompts, "a red fox", true);
  for (const kernels::VariantUse& use : test_.counters.Uses()) {
    EXPECT_THAT(T5Encoder::kOperators, ::testing::Contains(use.op));
  }
}

TEST_F(PromptEncoderTest, TellsMaskedAndUnmaskedApart) {
  PromptEncoder prompts = Load(1 << 20);
  const Prompt plain = Encode(prompts, "a red fox"), masked = Encode(prompts, "a red fox", true);
  EXPECT_FALSE(plain.embeddings.equal(masked.embeddings));
}

TEST_F(PromptEncoderTest, ForgetsTheOldestBeyondItsBytes) {
  PromptEncoder measure = Load(1 << 20);
  Encode(measure, "a");
  const int64_t one = measure.cached_bytes();
  ASSERT_GT(one, 0);
  PromptEncoder prompts = Load(2 * one);
  const Prompt a = Encode(prompts, "a"), b = Encode(prompts, "b");
  Encode(prompts, "a");  // now b is the oldest
  Encode(prompts, "c");
  EXPECT_EQ(prompts.cached_bytes(), 2 * one);
  EXPECT_EQ(Encode(prompts, "a").embeddings.data_ptr(), a.embeddings.data_ptr());
  const Prompt b_again = Encode(prompts, "b");
  EXPECT_NE(b_again.embeddings.data_ptr(), b.embeddings.data_ptr());
  EXPECT_TRUE(b_again.embeddings.equal(b.embeddings));
}

TEST_F(PromptEncoderTest, ForgetsAllWhenItIsTold) {
  PromptEncoder prompts = Load(1 << 20);
  const Prompt before = Encode(prompts, "a");
  prompts.Forget();
  EXPECT_EQ(prompts.cached_bytes(), 0);
  const Prompt after = Encode(prompts, "a");
  EXPECT_NE(after.embeddings.data_ptr(), before.embeddings.data_ptr());
  EXPECT_TRUE(after.embeddings.equal(before.embeddings));
  EXPECT_GT(prompts.cached_bytes(), 0);
}

TEST_F(PromptEncoderTest, RemembersNothingThatIsTooLarge) {
  PromptEncoder prompts = Load(1);
  Encode(prompts, "a");
  EXPECT_EQ(prompts.cached_bytes(), 0);
}

TEST_F(PromptEncoderTest, SaysWhenAPromptIsCutOff) {
  PromptEncoder prompts = Load(1 << 20);
  std::string text;
  for (int i = 0; i < 2 * kLength; ++i) text += "fox ";
  EXPECT_GT(Encode(prompts, text).summary.tokens, kLength);
}

}  // namespace
}  // namespace reel::model
