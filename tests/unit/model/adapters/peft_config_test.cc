// SPDX-License-Identifier: Apache-2.0
#include "model/adapters/peft_config.h"

#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kLayer[] = "transformer_blocks.0.attn1.to_q";

absl::StatusOr<PeftConfig> ConfigOf(const char* text, const char* component = "transformer") {
  return PeftConfig::Read(json::parse(text), component, "settings");
}

TEST(PeftConfig, TakesAlphaFromThePatternThenFromTheWhole) {
  const auto config =
      ConfigOf(R"({"lora_alpha": 8, "alpha_pattern": {"attn1.to_q": 2.5}, "r": 4})");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(*config->AlphaOf(kLayer), 2.5);
  EXPECT_EQ(*config->AlphaOf("transformer_blocks.0.attn1.to_k"), 8);
  EXPECT_EQ(*config->PatternRankOf(kLayer), std::nullopt);
  EXPECT_FALSE(config->divides_by_root());
}

TEST(PeftConfig, MatchesWholeWordsAlone) {
  const auto config =
      ConfigOf(R"({"alpha_pattern": {"to_q": 3}, "rank_pattern": {"0.attn1.to_q": 6}})");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(*config->AlphaOf(kLayer), 3);
  EXPECT_EQ(*config->AlphaOf("attn1.not_to_q"), std::nullopt);
  EXPECT_EQ(*config->PatternRankOf(kLayer), 6);
  EXPECT_EQ(*config->PatternRankOf("transformer_blocks.10.attn1.to_q"), std::nullopt);
}

TEST(PeftConfig, ReadsTheKeysOfItsComponent) {
  constexpr char kBoth[] =
      R"({"transformer.lora_alpha": 2, "transformer.use_rslora": true, "connectors.lora_alpha": 5})";
  const auto transformer = ConfigOf(kBoth);
  const auto connectors = ConfigOf(kBoth, "connectors");
  ASSERT_TRUE(transformer.ok() && connectors.ok());
  EXPECT_EQ(*transformer->AlphaOf(kLayer), 2);
  EXPECT_TRUE(transformer->divides_by_root());
  EXPECT_EQ(*connectors->AlphaOf("text_proj_in"), 5);
  EXPECT_FALSE(connectors->divides_by_root());
}

TEST(PeftConfig, RefusesWhatIsMoreThanProducts) {
  for (const char* text :
       {R"({"use_dora": true})", R"({"lora_bias": true})", R"({"bias": "all"})",
        R"({"modules_to_save": ["proj_out"]})", R"({"transformer.use_dora": true})",
        R"({"peft_type": "IA3"})", R"({"init_lora_weights": "pissa_niter_4"})",
        R"({"fan_in_fan_out": true})"}) {
    EXPECT_EQ(ConfigOf(text).status().code(), absl::StatusCode::kFailedPrecondition) << text;
  }
  const auto usual = ConfigOf(
      R"({"use_dora": false, "lora_bias": false, "bias": "none", "modules_to_save": null,
          "peft_type": "LORA", "init_lora_weights": true, "fan_in_fan_out": false})");
  EXPECT_TRUE(usual.ok()) << usual.status();
}

TEST(PeftConfig, RefusesValuesThatAreNoFiniteNumbers) {
  for (const char* text : {R"({"lora_alpha": "8"})", R"({"alpha_pattern": [1]})",
                           R"({"alpha_pattern": {"to_q": "x"}})", R"({"rank_pattern": 4})"}) {
    EXPECT_THAT(std::string(ConfigOf(text).status().message()), HasSubstr("settings")) << text;
  }
}

TEST(PeftConfig, RefusesRegularExpressions) {
  EXPECT_THAT(std::string(ConfigOf(R"({"alpha_pattern": {"^.*to_q$": 3}})").status().message()),
              AllOf(HasSubstr("alpha_pattern"), HasSubstr("regular expressions")));
}

TEST(PeftConfig, RefusesPatternsThatContradictEachOther) {
  const auto config = ConfigOf(R"({"alpha_pattern": {"to_q": 3, "attn1.to_q": 4}})");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(std::string(config->AlphaOf(kLayer).status().message()),
              AllOf(HasSubstr("two patterns"), HasSubstr(kLayer)));
}

}  // namespace
}  // namespace reel::model
