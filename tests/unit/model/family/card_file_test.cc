// SPDX-License-Identifier: Apache-2.0
#include "model/family/card_file.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/temp_folder.h"

namespace reel::model {
namespace {

using ::testing::HasSubstr;

ModelCard Card() {
  ModelCard card;
  card.family = "LTX-Video 0.9.5";
  card.defaults.width = 704;
  card.defaults.num_inference_steps = 50;
  card.defaults.guidance_scale = 3;
  card.limits.max_size = 1536;
  return card;
}

class CardFile : public ::testing::Test {
 protected:
  absl::Status Apply(const std::string& json) {
    folder_.Write("reel.json", json);
    return ApplyCardFile(folder_.path(), card_);
  }

  const reel::testing::TempFolder folder_;
  ModelCard card_ = Card();
};

TEST_F(CardFile, AFolderWithoutOneKeepsItsCard) {
  ASSERT_TRUE(ApplyCardFile(folder_.path(), card_).ok());
  EXPECT_EQ(card_.family, "LTX-Video 0.9.5");
  EXPECT_EQ(card_.defaults.width, 704);
}

TEST_F(CardFile, SaysWhatItSaysAndNothingElse) {
  const absl::Status status = Apply(R"({"family": "demo", "of_others": 1,
      "defaults": {"width": 256, "frame_rate": 24, "guidance_scale": 4.5},
      "limits": {"max_frames": 97}})");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(card_.family, "demo");
  EXPECT_EQ(card_.defaults.width, 256);
  EXPECT_EQ(card_.defaults.frame_rate, 24);
  EXPECT_EQ(card_.defaults.guidance_scale, 4.5);
  EXPECT_EQ(card_.defaults.num_inference_steps, 50);
  EXPECT_EQ(card_.limits.max_frames, 97);
  EXPECT_EQ(card_.limits.max_size, 1536);
}

TEST_F(CardFile, NamesTheWordsOfPrompts) {
  ASSERT_TRUE(Apply(R"({"prompt_words": [{"name": "colours", "words": ["red", "blue"]},
      {"name": "shapes", "words": ["star"]}]})")
                  .ok());
  EXPECT_EQ(card_.prompt_words,
            (std::vector<PromptWords>{{"colours", {"red", "blue"}}, {"shapes", {"star"}}}));
  for (const char* wrong : {R"("red")", R"(["red"])", R"([{"name": "colours"}])",
                            R"([{"words": ["red"]}])", R"([{"name": "c", "words": [1]}])"}) {
    EXPECT_FALSE(Apply(std::string("{\"prompt_words\": ") + wrong + "}").ok()) << wrong;
  }
}

TEST_F(CardFile, DropsThePresetsThatItsLimitsRefuse) {
  Preset small, large;
  small.values.width = 512;
  large.values.width = 768;
  card_.presets = {large, small};
  ASSERT_TRUE(Apply(R"({"limits": {"max_size": 512}})").ok());
  ASSERT_EQ(card_.presets.size(), 1);
  EXPECT_EQ(card_.presets[0].values.width, 512);
}

TEST_F(CardFile, KeepsOnlyThePresetsThatItNames) {
  card_.presets = {{.name = "dev", .values = {}}, {.name = "distilled", .values = {}}};
  ASSERT_TRUE(Apply(R"({"presets": ["distilled"]})").ok());
  ASSERT_EQ(card_.presets.size(), 1);
  EXPECT_EQ(card_.presets[0].name, "distilled");
  EXPECT_FALSE(Apply(R"({"presets": ["dev"]})").ok());
  ASSERT_TRUE(Apply(R"({"presets": []})").ok());
  EXPECT_TRUE(card_.presets.empty());
}

TEST_F(CardFile, SetsNoGuidanceThatTheFamilyLacks) {
  EXPECT_THAT(std::string(Apply(R"({"defaults": {"stg_scale": 1}})").message()),
              HasSubstr("stg_scale"));
  card_.defaults.stg_scale = 1;
  ASSERT_TRUE(Apply(R"({"defaults": {"stg_scale": 0}})").ok());
  EXPECT_EQ(card_.defaults.stg_scale, 0);
  EXPECT_FALSE(card_.defaults.modality_scale.has_value());
}

TEST_F(CardFile, NamesFileKeyAndRule) {
  const absl::Status range = Apply(R"({"defaults": {"width": 0}})");
  EXPECT_EQ(range.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(range.message()), HasSubstr("reel.json: defaults"));
  EXPECT_THAT(std::string(range.message()), HasSubstr("width"));
  EXPECT_FALSE(Apply(R"({"limits": 3})").ok());
  EXPECT_FALSE(Apply("{").ok());
}

}  // namespace
}  // namespace reel::model
