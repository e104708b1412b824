// SPDX-License-Identifier: Apache-2.0
// Nothing is changed silently. The API and `reel` say which parts of a text a model did not read;
// what no model can do is refused before it is queued. With real models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

std::string DemoFolder() { return std::string(std::getenv("REEL_SOURCE")) + "/model/demo/weights"; }

class Silence : public ::testing::Test {
 protected:
  static ServerSetup WithDemo() {
    ServerSetup setup;
    setup.config = absl::StrCat("models { name: 'demo' path: '", DemoFolder(),
                                "' dtype: 'fp32' manifest_file: '", DemoFolder(), "/SHA256SUMS' }");
    return setup;
  }
  static v1::VideoSpec Spec(const std::string& prompt) {
    v1::VideoSpec spec;
    spec.set_prompt(prompt);
    spec.set_width(128);
    spec.set_height(128);
    spec.set_num_frames(9);
    spec.set_num_inference_steps(2);
    return spec;
  }
  static std::vector<std::string> Notices(const v1::Video& video) {
    std::vector<std::string> lines;
    for (const v1::Notice& notice : video.notices()) {
      lines.push_back(notice.code() + ": " + notice.message());
    }
    return lines;
  }
  ProgramResult Reel(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--server", server_.address()});
    return RunProgram(BinaryPath("reel"), arguments);
  }

  ReelServer server_{WithDemo()};
  Calls calls_{server_.Connect()};
  const testing::TempFolder folder_;
};

TEST_F(Silence, APromptThatFitsAndIsKnownIsOnlyCounted) {
  const StreamResult result = calls_.Generate(Spec("a red circle"));
  ASSERT_TRUE(result.status.ok()) << result.status.error_message();
  EXPECT_THAT(Notices(result.finished), ElementsAre());
  EXPECT_EQ(result.finished.stats().prompt_tokens(), 4);           // three words and the end
  EXPECT_EQ(result.finished.stats().negative_prompt_tokens(), 1);  // the demo's is empty
}

TEST_F(Silence, WhatTheModelDoesNotReadIsTold) {
  std::string prompt = "a fox";
  for (int i = 0; i < 40; ++i) prompt += " over waves";
  v1::VideoSpec spec = Spec(prompt);
  spec.set_max_text_tokens(32);
  const StreamResult result = calls_.Generate(spec);
  ASSERT_TRUE(result.status.ok()) << result.status.error_message();
  EXPECT_THAT(Notices(result.finished),
              ElementsAre(MatchesRegex("PROMPT_CUT: The prompt has 8[0-9] tokens.* 32;.*"),
                          AllOf(HasSubstr("UNKNOWN_WORDS: "), HasSubstr("\"fox\""),
                                Not(HasSubstr("waves")))));
  EXPECT_GT(result.finished.stats().prompt_tokens(), 80);
  EXPECT_THAT(Notices(calls_.Get(result.finished.name())), ElementsAre(::testing::_, ::testing::_));
  EXPECT_THAT(server_.Log(), Not(HasSubstr("\"fox\"")));
}

TEST_F(Silence, ReelShowsIt) {
  const std::string path = folder_.File("a.mp4");
  const ProgramResult made = Reel({"generate", "a fox", "--width", "128", "--height", "128",
                                   "--frames", "9", "--steps", "2", "-o", path});
  EXPECT_EQ(made.status, 0) << made.errors;
  EXPECT_THAT(made.errors, AllOf(HasSubstr("note: "), HasSubstr("fox")));
  const std::string name = calls_.List().at(0).name();
  EXPECT_THAT(Reel({"get", name}).out, AllOf(HasSubstr("note"), HasSubstr("\"fox\"")));
}

TEST_F(Silence, ABlankPromptIsRefused) {
  for (const char* prompt : {"", "  \t\n"}) {
    const StreamResult result = calls_.Generate(Spec(prompt));
    EXPECT_EQ(result.reason(), "INVALID_SPEC");
    EXPECT_THAT(ViolatedFields(result.status), ElementsAre("spec.prompt"));
  }
}

TEST_F(Silence, ASpecThatCameBackMustBringItsPictureAgain) {
  v1::VideoSpec spec = Spec("a red circle");
  v1::Condition& condition = *spec.add_conditions();
  condition.set_image("");
  condition.set_content_type("image/png");
  condition.set_size_bytes(100);
  condition.set_sha256(std::string(64, 'a'));
  const StreamResult result = calls_.Generate(spec);
  EXPECT_EQ(result.reason(), "INVALID_SPEC");
  EXPECT_THAT(ViolatedFields(result.status), ElementsAre("spec.conditions[0].image"));
}

TEST_F(Silence, AModelsManifestNamesItsWeights) {
  v1::ListModelsResponse models;
  grpc::ClientContext context;
  ASSERT_TRUE(calls_.server().ListModels(&context, v1::ListModelsRequest(), &models).ok());
  EXPECT_THAT(models.models(0).weights_sha256(), MatchesRegex("[0-9a-f]{64}"));
}

}  // namespace
}  // namespace reel::tests
