// SPDX-License-Identifier: Apache-2.0
#include "model/states/spec_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SpecJson, LeavesOutWhatIsNotSet) { EXPECT_EQ(SpecToJson({}), json::object()); }

TEST(SpecJson, GivesEveryNumberBackToTheBit) {
  GenerationSpec spec;
  spec.seed = std::numeric_limits<uint64_t>::max();
  spec.frame_rate = 23.976;
  spec.timesteps = {1000, std::nextafter(909.4, 0), 0.1};
  spec.guidance_scale = 0;  // set, and not the default
  spec.num_frames = -3;
  spec.negative_prompt = "";
  spec.sound = false;
  const json text = json::parse(SpecToJson(spec).dump());
  const auto again = SpecFromJson(text);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, spec);
}

TEST(SpecJson, LeavesOutWhatNamesAVideoAmongOthersAndPathsOfThisMachine) {
  GenerationSpec spec;
  spec.keep_state = true;
  spec.worker = "w";
  spec.source = Source{.video = "videos/v", .begin = Source::Begin::kPromote};
  EXPECT_EQ(SpecToJson(spec), json::object());
  spec.adapters = {{"grain", 1, "", "/models/grain.safetensors"}};
  EXPECT_THAT(SpecToJson(spec).dump(), Not(HasSubstr("/models")));
}

TEST(SpecJson, KeepsTheScalesOfAdapters) {
  GenerationSpec spec;
  spec.adapters = {{.name = "grain",
                    .scale = 0.8,
                    .sha256 = "ab",
                    .part_scales = {{"audio", 0}, {"video_to_audio", 0.1}},
                    .pass_scales = {1, 0.25}}};
  const json text = json::parse(SpecToJson(spec).dump());
  const auto again = SpecFromJson(text);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, spec);
  GenerationSpec other = spec;
  other.adapters[0].pass_scales = {1};
  EXPECT_THAT(Differences(spec, other), ElementsAre("adapters"));
}

TEST(SpecJson, NamesFieldsThatDifferAndNoValues) {
  GenerationSpec one, other;
  one.prompt = "a secret fox";
  one.seed = 1;
  other.seed = 2;
  other.conditions.resize(1);
  EXPECT_THAT(Differences(one, other), ElementsAre("conditions", "prompt", "seed"));
  EXPECT_THAT(Differences(one, one), IsEmpty());
}

TEST(SpecJson, RefusesWhatIsNoSpecAndNamesTheField) {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"width": "64"})", "width"},
      {R"({"width": 64.5})", "width"},
      {R"({"width": 4294967296})", "width"},
      {R"({"width": 18446744073709551615})", "width"},
      {R"({"seed": -1})", "seed"},
      {R"({"prompt": 7})", "prompt"},
      {R"({"sound": 1})", "sound"},
      {R"({"timesteps": [1, "2"]})", "timesteps"},
      {R"({"timesteps": {}})", "timesteps"},
      {R"({"encoding.codec": 99})", "encoding.codec"},
      {R"({"conditions": [{"kind": -1}]})", "conditions"},
      {R"({"conditions": [{"bytes": "x"}]})", "conditions"},
      {R"({"adapters": [{"part_scales": {"audio": "loud"}}]})", "adapters"},
      {R"({"adapters": [{"pass_scales": 1}]})", "adapters"},
      {R"({"kernels.variants": {"op": 1}})", "kernels.variants"},
      {R"({"field_of_the_future": 1})", "of another version"},
      {"[]", "not an object"}};
  for (const auto& [text, name] : wrong) {
    const auto read = SpecFromJson(json::parse(text));
    EXPECT_EQ(read.status().code(), absl::StatusCode::kFailedPrecondition) << text;
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(name)) << text;
  }
  const json long_list = {{"timesteps", std::vector<double>(5000, 1.0)}};
  EXPECT_FALSE(SpecFromJson(long_list).ok());
}

}  // namespace
}  // namespace reel::model
