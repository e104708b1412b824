// SPDX-License-Identifier: Apache-2.0
#include "model/origin/origin_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

ModelCard Card(const std::string& family = "LTX-Video 0.9.5") {
  ModelCard card;
  card.name = "in-house";
  card.family = family;
  card.parameters = 1'900'000'000;
  card.weights_sha256 = std::string(64, 'a');
  card.fixed_adapters = {{.name = "grain",
                          .path = "/models/grain.safetensors",
                          .scale = 0.5,
                          .sha256 = std::string(64, 'b')}};
  return card;
}

GenerationSpec Spec() {
  GenerationSpec spec;
  spec.model = "in-house";
  spec.prompt = "a secret fox";
  spec.seed = 7;
  spec.width = 64;
  spec.kernels = {
      .profile = "auto", .variants = {{"rms_norm", "loops"}}, .experiment = "e", .arm = "b"};
  spec.encoding = {.codec = VideoCodec::kH264, .crf = 18, .origin = Origin::kSpec};
  spec.preview = {.every_steps = 2, .max_side = 256};
  return spec;
}

json OriginJson(const GenerationSpec& spec) {
  const auto text = OriginOf(spec, Card(), {"NVIDIA H200", {{"rms_norm", "loops"}}});
  EXPECT_TRUE(text.ok()) << text.status();
  return json::parse(text.value_or("{}"));
}

TEST(MarkOf, SaysThatAMachineMadeItByWhichModelAndVersion) {
  const std::string mark = MarkOf(Card());
  EXPECT_THAT(mark, HasSubstr("<Iptc4xmpExt:DigitalSourceType>http://cv.iptc.org/newscodes/"
                              "digitalsourcetype/trainedAlgorithmicMedia<"));
  EXPECT_THAT(mark, HasSubstr("<Iptc4xmpExt:AISystemUsed>LTX-Video 0.9.5<"));
  EXPECT_THAT(mark, HasSubstr("<Iptc4xmpExt:AISystemVersionUsed>0.9.5<"));
  EXPECT_THAT(mark, HasSubstr("xmlns:Iptc4xmpExt=\"http://iptc.org/std/Iptc4xmpExt/2008-02-29/\""));
  EXPECT_THAT(MarkOf(Card("LTX-2.3, random weights")), HasSubstr("VersionUsed>2.3<"));
  EXPECT_THAT(MarkOf(Card("test card")), Not(HasSubstr("VersionUsed")));
}

TEST(MarkOf, IsXmlWhateverACheckpointCallsItself) {
  EXPECT_THAT(MarkOf(Card("a<b> & \x01 1")), HasSubstr("Used>a&lt;b&gt; &amp;   1<"));
}

TEST(OriginOf, HoldsWhatMakesTheVideoAnew) {
  const json origin = OriginJson(Spec());
  EXPECT_EQ(origin["format"], "reel.origin.1");
  EXPECT_EQ(origin["build"], REEL_VERSION);
  EXPECT_EQ(origin["device"], "NVIDIA H200");
  EXPECT_EQ(origin["kernels"], json({{"rms_norm", "loops"}}));
  EXPECT_EQ(origin["model"]["family"], "LTX-Video 0.9.5");
  EXPECT_EQ(origin["model"]["weights_sha256"], std::string(64, 'a'));
  EXPECT_EQ(origin["model"]["adapters"],
            json::array({{{"name", "grain"}, {"scale", 0.5}, {"sha256", std::string(64, 'b')}}}));
  const json& spec = origin["spec"];
  EXPECT_EQ(spec["prompt"], "a secret fox");
  EXPECT_EQ(spec["seed"], 7);
  EXPECT_EQ(spec["encoding"], json({{"codec", 1}, {"crf", 18}, {"origin", 3}}));
}

TEST(OriginOf, LeavesOutWhatDoesNotChangeTheFile) {
  GenerationSpec spec = Spec();
  const auto bytes = [](const GenerationSpec& of) { return OriginOf(of, Card(), {}).value_or(""); };
  const std::string text = bytes(spec);
  EXPECT_THAT(text, Not(HasSubstr("/models"))) << "no path";
  spec.worker = "gpu0";
  spec.keep_state = true;
  spec.source = Source{.video = "videos/draft", .begin = Source::Begin::kPromote};
  spec.preview = {};
  EXPECT_EQ(bytes(spec), text) << "a promoted draft's is that of the whole";
  EXPECT_EQ(json::parse(text)["spec"]["kernels"],
            json({{"profile", "auto"}, {"variants", {{"rms_norm", "loops"}}}}))
      << "what an experiment chose, not which";
}

TEST(OriginOf, DescribesConditionsAsTheApiTakesThemWithoutTheirBytes) {
  GenerationSpec spec = Spec();
  spec.conditions.resize(2);
  spec.conditions[0].sha256 = "00";
  spec.conditions[0].size_bytes = 5;
  spec.conditions[1].kind = Condition::Kind::kVideo;
  spec.conditions[1].frame_index = 48;
  EXPECT_EQ(OriginJson(spec)["spec"]["conditions"],
            json::array({{{"image", ""}, {"sha256", "00"}, {"size_bytes", 5}},
                         {{"video", ""}, {"frame_index", 48}}}));
  for (const auto& [use, name] :
       {std::pair{Condition::Use::kRefine, "CONDITION_USE_REFINE"},
        std::pair{Condition::Use::kReference, "CONDITION_USE_REFERENCE"}}) {
    spec.conditions[1].use = use;
    EXPECT_EQ(OriginJson(spec)["spec"]["conditions"][1]["use"], name);
  }
}

TEST(OriginOf, IsNeverLongerThanAReaderTakes) {
  GenerationSpec spec = Spec();
  spec.prompt = std::string(2000, '\x01');  // six bytes each in JSON
  spec.negative_prompt = spec.prompt;
  EXPECT_TRUE(OriginOf(spec, Card(), {}).ok());
  spec.prompt = std::string(70'000, 'x');
  EXPECT_EQ(OriginOf(spec, Card(), {}).status().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace reel::model
