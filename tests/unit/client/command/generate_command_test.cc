// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/unit/client/command/command_fixture.h"

namespace reel::client {
namespace {

namespace fs = std::filesystem;

using GenerateTest = CommandTest;

TEST_F(GenerateTest, WritesTheFileAndSaysOnlyWhere) {
  const std::string path = folder_ + "/a.mp4";
  EXPECT_EQ(Run({"generate", "a lighthouse", "-o", path}), 0);
  EXPECT_EQ(out_, path + "\n");
  EXPECT_EQ(err_, "");
  EXPECT_EQ(ReadAll(path), server_.media());
}

TEST_F(GenerateTest, SendsEveryFlag) {
  const std::string line =
      "generate lighthouse --model m --negative_prompt fog --width 64 --height 32 --frames 9 "
      "--fps 12.5 --steps 4 --guidance 0 --seed 4294967297 --preset fast --kernels reference "
      "--kernel rms_norm=loops --kernel rope=cpu --preview-every 2 --preview_dir previews "
      "--priority high --timeout 1m30s --label a=b=c --request-id id --crf 0 --speed faster "
      "--origin spec "
      "--worker gpu0 --cache-threshold 0.25 --cache-most-reused 0 --detach -o ";
  EXPECT_EQ(Run(absl::StrSplit(line + folder_ + "/a.mp4", ' ')), 0) << err_;
  const v1::GenerateVideoRequest request = server_.asked().generates.at(0);
  EXPECT_EQ(request.ShortDebugString(),
            "spec { model: \"m\" prompt: \"lighthouse\" negative_prompt: \"fog\" width: 64 "
            "height: 32 num_frames: 9 frame_rate: 12.5 num_inference_steps: 4 guidance_scale: 0 "
            "seed: 4294967297 kernels { profile: \"reference\" variants { key: \"rms_norm\" value: "
            "\"loops\" } variants { key: \"rope\" value: \"cpu\" } } preview { every_steps: 2 } "
            "encoding { crf: 0 speed: ENCODING_SPEED_FASTER origin: ORIGIN_SPEC } preset: \"fast\" "
            "worker: \"gpu0\" "
            "cache { threshold: 0.25 most_reused: 0 } } "
            "request_id: \"id\" priority: PRIORITY_HIGH detached: true timeout { seconds: 90 } "
            "labels { key: \"a\" value: \"b=c\" }");
}

TEST_F(GenerateTest, SendsWhatGuidesAVideoWithSound) {
  const std::string line =
      "generate --timesteps 1000,725.5 --guidance-rescale 0.7 --audio-guidance-scale 7 "
      "--audio-guidance-rescale 0.5 --stg-scale 1 --audio-stg-scale 0 --stg-blocks 14,19 "
      "lighthouse --modality-scale 3 --audio-modality-scale 1 --image-crf 0 --no-sound "
      "--normalise-loudness -23 "
      "--adapter grain:-0.5 --adapter film:look --adapter turn,audio=0.5,pass=1/0.25 -o ";
  EXPECT_EQ(Run(absl::StrSplit(line + folder_ + "/a.mp4", ' ')), 0) << err_;
  EXPECT_EQ(server_.asked().generates.at(0).spec().ShortDebugString(),
            "prompt: \"lighthouse\" guidance_rescale: 0.7 timesteps: 1000 timesteps: 725.5 "
            "adapters { name: \"grain\" scale: -0.5 } adapters { name: \"film:look\" } "
            "adapters { name: \"turn\" part_scales { key: \"audio\" value: 0.5 } pass_scales: 1 "
            "pass_scales: 0.25 } "
            "sound: false audio_guidance_scale: 7 audio_guidance_rescale: 0.5 stg_scale: 1 "
            "audio_stg_scale: 0 modality_scale: 3 audio_modality_scale: 1 stg_blocks: 14 "
            "stg_blocks: 19 condition_crf: 0 normalise_loudness: -23");
}

TEST_F(GenerateTest, AsksForADraftAndForTheRestOfIt) {
  EXPECT_EQ(Run({"generate", "a fox", "--draft", "--preset", "two-pass", "-o", folder_ + "/a.mp4"}),
            0)
      << err_;
  EXPECT_EQ(server_.asked().generates.at(0).spec().ShortDebugString(),
            "prompt: \"a fox\" preset: \"two-pass\" stop_after_pass: 1");
  const std::string path = folder_ + "/b.mp4";
  EXPECT_EQ(Run({"promote", "m-1", "--label", "a=b", "-o", path}), 0) << err_;
  EXPECT_EQ(out_, path + "\n");
  EXPECT_EQ(ReadAll(path), server_.media());
  const v1::GenerateVideoRequest request = server_.asked().generates.at(1);
  EXPECT_EQ(request.spec().ShortDebugString(), "source { video: \"videos/m-1\" promote { } }");
  EXPECT_EQ(request.labels().at("a"), "b");
  EXPECT_EQ(Run({"promote", "m-1", "--keep-state", "-o", path}), 0) << err_;
  EXPECT_EQ(server_.asked().generates.at(2).spec().ShortDebugString(),
            "keep_state: true source { video: \"videos/m-1\" promote { } }");
}

TEST_F(GenerateTest, WritesSeveralOfOneCallAndWithoutReelFramesNoSheet) {
  const std::string stem = folder_ + "/fox";
  EXPECT_EQ(Run({"generate", "a fox", "--count", "3", "--seed", "7", "--label", "a=b", "-o",
                 stem + ".mp4"}),
            0)
      << err_;
  EXPECT_EQ(out_, stem + "-1.mp4\n" + stem + "-2.mp4\n" + stem + "-3.mp4\n");
  for (const char* const number : {"1", "2", "3"}) {
    EXPECT_EQ(ReadAll(absl::StrCat(stem, "-", number, ".mp4")), server_.media());
  }
  EXPECT_NE(err_.find("reel-frames is not installed beside reel"), std::string::npos) << err_;
  v1::CreateVideoRequest request = server_.asked().creates.at(0);
  EXPECT_FALSE(request.request_id().empty()) << "asked again, it makes no others";
  request.clear_request_id();
  EXPECT_EQ(request.ShortDebugString(),
            "spec { prompt: \"a fox\" seed: 7 } labels { key: \"a\" value: \"b\" } count: 3");
  EXPECT_TRUE(server_.asked().generates.empty());
  EXPECT_EQ(Run({"--json", "generate", "a fox", "--count", "2", "-o", stem + ".mp4"}), 0) << err_;
  EXPECT_EQ(out_.find("{\"videos\":[{\"video\":{"), 0U) << out_;
  EXPECT_NE(out_.find("\"path\":\"" + stem + "-2.mp4\"}]}"), std::string::npos) << out_;
}

TEST_F(GenerateTest, OfSeveralOneThatFailsKeepsNoOtherBack) {
  fakes::Trouble fails;
  fails.end = fakes::MakeRefusal(13, "NUMERICAL_FAULT", "The model computed NaN.");
  server_.Play({fails});
  const std::string stem = folder_ + "/fox";
  EXPECT_EQ(Run({"generate", "a fox", "--count", "2", "-o", stem + ".mp4"}), 7);
  EXPECT_EQ(out_, stem + "-2.mp4\n");
  EXPECT_FALSE(fs::exists(stem + "-1.mp4"));
  EXPECT_NE(err_.find("The model computed NaN."), std::string::npos) << err_;
}

TEST_F(GenerateTest, SeveralGoToFilesOnly) {
  EXPECT_EQ(Run({"generate", "x", "--count", "2", "-o", "-"}, "/dev/null"), 2);
  EXPECT_EQ(Run({"generate", "x", "--count", "0", "-o", folder_ + "/a.mp4"}), 2);
  EXPECT_EQ(
      Run({"generate", "x", "--count", "2", "--trace", folder_ + "/t", "-o", folder_ + "/a.mp4"}),
      2);
  EXPECT_TRUE(server_.asked().creates.empty());
}

TEST_F(GenerateTest, SendsArmsStrengthAndTheDecodersTimestep) {
  EXPECT_EQ(Run({"generate", "x", "--experiment", "norms", "--arm", "new", "--denoise-strength",
                 "0.5", "--decode-timestep", "0.05", "-o", folder_ + "/a.mp4"}),
            0)
      << err_;
  EXPECT_EQ(server_.asked().generates.at(0).spec().ShortDebugString(),
            "prompt: \"x\" denoise_strength: 0.5 decode_timestep: 0.05 kernels { experiment: "
            "\"norms\" arm: \"new\" }");
}

TEST_F(GenerateTest, GoesOnBehindAVideoThatKeptItsState) {
  EXPECT_EQ(Run({"generate", "a fox", "--keep-state", "-o", folder_ + "/a.mp4"}), 0) << err_;
  EXPECT_EQ(server_.asked().generates.at(0).spec().ShortDebugString(),
            "prompt: \"a fox\" keep_state: true");
  EXPECT_EQ(
      Run({"extend", "m-1", "it runs", "--frames", "72", "--keep-state", "-o", folder_ + "/b.mp4"}),
      0)
      << err_;
  EXPECT_EQ(server_.asked().generates.at(1).spec().ShortDebugString(),
            "prompt: \"it runs\" keep_state: true "
            "source { video: \"videos/m-1\" extend { num_frames: 72 } }");
  EXPECT_EQ(Run({"extend", "m-1", "--frames", "8", "--overlap", "9", "--seed", "0", "--preset", "p",
                 "--steps", "3", "-o", folder_ + "/c.mp4"}),
            0)
      << err_;
  EXPECT_EQ(server_.asked().generates.at(2).spec().ShortDebugString(),
            "num_inference_steps: 3 seed: 0 preset: \"p\" "
            "source { video: \"videos/m-1\" extend { num_frames: 8 overlap_frames: 9 } }");
  EXPECT_EQ(Run({"extend", "m-1", "--frames", "8", "--join", "-o", folder_ + "/j.mp4"}), 0) << err_;
  EXPECT_EQ(server_.asked().generates.at(3).spec().ShortDebugString(),
            "source { video: \"videos/m-1\" extend { num_frames: 8 join: true } }");
  EXPECT_EQ(Run({"extend", "m-1", "-o", folder_ + "/d.mp4"}), 2) << "how far?";
}

TEST_F(GenerateTest, MakesAStretchOfAVideoAnew) {
  EXPECT_EQ(Run({"retake", "m-1", "--from", "1.5", "--to", "3", "--keep-sound", "-o",
                 folder_ + "/a.mp4"}),
            0)
      << err_;
  EXPECT_EQ(server_.asked().generates.at(0).spec().ShortDebugString(),
            "source { video: \"videos/m-1\" retake { begin { seconds: 1 nanos: 500000000 } "
            "end { seconds: 3 } keep_sound: true } }");
  const std::vector<std::string> whole = {"retake", "m-1", "a wolf", "--to", "3"};
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--from", "-1"}, {"--keep-sound", "--keep-pictures"}}) {
    std::vector<std::string> line = whole;
    line.insert(line.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(Run(line), 2) << wrong.at(0);
  }
}

TEST_F(GenerateTest, SendsAClipToRefineAndAPromptOfItsOwn) {
  const std::string clip = folder_ + "/clip.mp4";
  std::ofstream(clip, std::ios::binary) << std::string(
      "\0\0\0\x10"
      "ftypisom\0\0\0\0",
      16);
  EXPECT_EQ(Run({"refine", clip, "-o", folder_ + "/a.mp4"}), 0) << err_;
  v1::VideoSpec spec = server_.asked().generates.at(0).spec();
  ASSERT_EQ(spec.conditions_size(), 1);
  EXPECT_EQ(spec.conditions(0).use(), v1::CONDITION_USE_REFINE);
  EXPECT_EQ(spec.conditions(0).video().size(), 16U);
  EXPECT_EQ(spec.prompt(), "a sharp, detailed video");
  EXPECT_EQ(spec.num_frames(), 0) << "the file does not say";
  EXPECT_EQ(Run({"refine", clip, "a fox", "--denoise-strength", "0.5", "--width", "768", "-o",
                 folder_ + "/b.mp4"}),
            0)
      << err_;
  spec = server_.asked().generates.at(1).spec();
  EXPECT_EQ(spec.prompt(), "a fox");
  EXPECT_EQ(spec.denoise_strength(), 0.5);
  EXPECT_EQ(spec.width(), 768);
  fakes::Refusal refusal = fakes::MakeRefusal(3, "INVALID_SPEC", "Invalid.");
  fakes::AddViolation(refusal, "spec.conditions[0].video", "is damaged");
  server_.RefuseNext("GenerateVideo", refusal);
  EXPECT_EQ(Run({"refine", clip, "-o", folder_ + "/c.mp4"}), 3);
  EXPECT_NE(err_.find("  " + clip + ": is damaged\n"), std::string::npos) << err_;
  std::ofstream(clip, std::ios::binary) << "no clip";
  EXPECT_EQ(Run({"refine", clip, "-o", folder_ + "/c.mp4"}), 3);
  EXPECT_NE(err_.find("Only an MP4 is refined"), std::string::npos) << err_;
}

TEST_F(GenerateTest, LeavesDefaultsToTheServer) {
  EXPECT_EQ(Run({"generate", "x", "-o", folder_ + "/a.mp4"}), 0);
  v1::GenerateVideoRequest request = server_.asked().generates.at(0);
  request.clear_request_id();
  EXPECT_EQ(request.ShortDebugString(), "spec { prompt: \"x\" }");
}

TEST_F(GenerateTest, StreamsToStdout) {
  EXPECT_EQ(Run({"generate", "x", "-o", "-"}), 0);
  EXPECT_EQ(out_, server_.media());
  EXPECT_EQ(Run({"generate", "x", "-o", "-", "--json"}), 2);
}

TEST_F(GenerateTest, PrintsOneJsonObject) {
  const std::string path = folder_ + "/a.mp4";
  EXPECT_EQ(Run({"generate", "x", "-o", path, "--json"}), 0);
  EXPECT_EQ(out_.find("{\"video\":{\"name\":\"videos/fake1\""), 0u);
  EXPECT_NE(out_.find(",\"path\":\"" + path + "\"}\n"), std::string::npos);
  EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 1);
}

TEST_F(GenerateTest, DrawsOneLineOnATerminal) {
  environment_.live = true;
  environment_.width = [] { return 60; };
  EXPECT_EQ(Run({"generate", "x", "-o", folder_ + "/a.mp4"}), 0);
  EXPECT_NE(err_.find("\r\033[Kqueued     ["), std::string::npos);
  EXPECT_NE(err_.find("\r\033[Kdenoise    ["), std::string::npos);
  EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1);  // the summary
  EXPECT_EQ(Run({"generate", "x", "-o", folder_ + "/a.mp4", "-q"}), 0);
  EXPECT_EQ(err_, "");
}

TEST_F(GenerateTest, ErrorsGoToStderrAndLeaveNoFile) {
  fakes::Refusal refusal = fakes::MakeRefusal(3, "INVALID_SPEC", "Invalid.");
  server_.RefuseNext("GenerateVideo", fakes::AddViolation(refusal, "spec.width", "Nearest: 704."));
  EXPECT_EQ(Run({"generate", "x", "-o", folder_ + "/a.mp4"}), 3);
  EXPECT_EQ(out_, "");
  EXPECT_NE(err_.find("  --width: Nearest: 704.\n"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ + "/a.mp4.part"));
  server_.RefuseNext("GenerateVideo", refusal);
  EXPECT_EQ(Run({"generate", "x", "-o", folder_ + "/a.mp4", "--json", "-q"}), 3);
  EXPECT_EQ(out_.find("{\"error\":{\"code\":\"INVALID_ARGUMENT\""), 0u);
  EXPECT_EQ(err_, "");
}

TEST_F(GenerateTest, SendsNoOtherValueThanTheOneThatWasTyped) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"--seed", "-1"},  {"--seed", "100000000000000000000"},
      {"--steps", "0"},  {"--width", "0"},
      {"--height", "0"}, {"--frames", "0"},
      {"--fps", "0"},    {"--model", ""},
      {"--preset", ""},  {"--kernels", ""},
      {"--worker", ""},  {"--output", "a.gif"}};
  for (const auto& [flag, value] : wrong) {
    EXPECT_EQ(Run({"generate", "x", flag, value}), 2) << flag << " " << value;
    EXPECT_NE(err_.find(flag), std::string::npos) << err_;
  }
  EXPECT_TRUE(server_.asked().generates.empty());
}

TEST_F(GenerateTest, SendsAnEmptyNegativePromptAsAValue) {
  ASSERT_EQ(Run({"generate", "x", "-o", folder_ + "/a.mp4"}), 0) << err_;
  ASSERT_EQ(Run({"generate", "x", "--negative-prompt", "", "-o", folder_ + "/b.mp4"}), 0) << err_;
  const auto& asked = server_.asked().generates;
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_FALSE(asked[0].spec().has_negative_prompt());
  EXPECT_TRUE(asked[1].spec().has_negative_prompt());
  EXPECT_EQ(asked[1].spec().negative_prompt(), "");
}

TEST_F(GenerateTest, ShowsWhatTheServerHasToSayOnce) {
  server_.Notice("PROMPT_CUT", "The prompt has 300 tokens.");
  EXPECT_EQ(Run({"generate", "x", "-o", folder_ + "/a.mp4"}), 0);
  EXPECT_EQ(err_, "note: The prompt has 300 tokens.\n");
  EXPECT_EQ(Run({"get", "fake1"}), 0);
  EXPECT_NE(out_.find("The prompt has 300 tokens."), std::string::npos) << out_;
}

TEST_F(GenerateTest, RefusesAnOutputThatCannotBeBeforeItRenders) {
  EXPECT_EQ(Run({"generate", "x", "-o", folder_ + "/no/a.mp4"}), 3);
  EXPECT_TRUE(server_.asked().generates.empty());
}

}  // namespace
}  // namespace reel::client
