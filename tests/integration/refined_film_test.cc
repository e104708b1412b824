// SPDX-License-Identifier: Apache-2.0
// Clips that a worker refines in several windows, whose frames leave in between: the files are
// those that reel-render makes, which decodes behind the last step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/fakes/decoded_video.h"
#include "tests/fakes/temp_folder.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/fakes/tiny_ltx2.h"
#include "tests/integration/calls.h"
#include "tests/integration/program.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::IsEmpty;

// What both models are asked for.
v1::VideoSpec SpecOf(int frames, int width, int height) {
  v1::VideoSpec spec;
  spec.set_prompt("a sharp fox");
  spec.set_width(width);
  spec.set_height(height);
  spec.set_num_frames(frames);
  spec.set_frame_rate(25);
  spec.set_max_text_tokens(64);
  spec.set_seed(7);
  return spec;
}

v1::VideoSpec ClipSpec() {
  v1::VideoSpec spec = SpecOf(17, 96, 64);
  spec.set_num_inference_steps(2);
  return spec;
}

v1::VideoSpec Refining(v1::VideoSpec spec, const std::string& clip) {
  v1::Condition& condition = *spec.add_conditions();
  condition.set_use(v1::CONDITION_USE_REFINE);
  condition.set_video(clip);
  return spec;
}

ServerSetup SetupOf(const std::string& folder) {
  return {absl::StrCat("models { name: 'tiny' path: '", folder, "' dtype: 'fp32' }"), {}, "", true};
}

// By reel-render, which decodes behind the last step.
std::string Rendered(const std::string& folder, const v1::VideoSpec& spec, const std::string& clip,
                     bool silent) {
  const testing::TempFolder files;
  files.Write("clip.mp4", clip);
  std::vector<std::string> arguments = {"--model",
                                        folder,
                                        "--dtype",
                                        "fp32",
                                        "--device",
                                        "cpu",
                                        "--refine",
                                        files.File("clip.mp4"),
                                        "--prompt",
                                        spec.prompt(),
                                        "--width",
                                        absl::StrCat(spec.width()),
                                        "--height",
                                        absl::StrCat(spec.height()),
                                        "--num-frames",
                                        absl::StrCat(spec.num_frames()),
                                        "--frame-rate",
                                        "25",
                                        "--max-text-tokens",
                                        "64",
                                        "--seed",
                                        "7",
                                        "--output",
                                        files.File("alone.mp4")};
  if (silent) arguments.push_back("--no-sound");
  const ProgramResult done = RunProgram(BinaryPath("reel-render"), arguments);
  EXPECT_EQ(done.status, 0) << done.errors;
  return files.Read("alone.mp4");
}

constexpr char kFewFrames[] = R"({"limits": {"max_frames": 57}})";

TEST(RefinedFilm, IsTheFileThatReelRenderMakes) {
  const model::ltx2::TinyFolder model{"2.3", model::ltx2::Scheduler::kStatic};
  model.AddUpsampler("x2");
  std::ofstream(model.path() + "/reel.json") << kFewFrames;
  ReelServer server(SetupOf(model.path()));
  Calls calls(server.Connect());
  const StreamResult clip = calls.Generate(ClipSpec());
  ASSERT_TRUE(clip.status.ok()) << clip.status.error_message();
  for (const bool sound : {false, true}) {
    v1::VideoSpec spec = SpecOf(161, 192, 128);
    if (!sound) spec.set_sound(false);
    v1::GenerateVideoRequest request;
    *request.mutable_spec() = Refining(spec, clip.file);
    int step = 0, step_of_media = -1;
    const StreamResult made = calls.Generate(request, [&](const v1::VideoEvent& event) {
      if (event.has_progress()) step = event.progress().step();
      if (event.has_media() && step_of_media < 0) step_of_media = step;
      return true;
    });
    ASSERT_TRUE(made.status.ok()) << made.status.error_message();
    EXPECT_LT(step_of_media, 15) << "frames, and the sound that the model makes, leave before";
    EXPECT_THAT(made.faults, IsEmpty());
    EXPECT_EQ(made.finished.stats().full_steps(), 15) << "five windows of three steps";
    EXPECT_TRUE(made.file == Rendered(model.path(), spec, clip.file, !sound)) << sound;
  }
}

class RefinedVideo : public ::testing::Test {
 protected:
  RefinedVideo() {
    model_.AddUpsampler("spatial");
    std::ofstream(model_.path() + "/reel.json") << kFewFrames;
  }
  const model::ltx::TinyFolder model_{"0.9.5"};
};

TEST_F(RefinedVideo, OfLtxVideoIsTheFileThatReelRenderMakes) {
  ReelServer server(SetupOf(model_.path()));
  Calls calls(server.Connect());
  const StreamResult clip = calls.Generate(ClipSpec());
  ASSERT_TRUE(clip.status.ok()) << clip.status.error_message();
  const v1::VideoSpec spec = SpecOf(97, 96, 96);
  const StreamResult made = calls.Generate(Refining(spec, clip.file));
  ASSERT_TRUE(made.status.ok()) << made.status.error_message();
  EXPECT_THAT(made.faults, IsEmpty());
  EXPECT_EQ(made.finished.spec().preset(), "2b-0.9.8-distilled-two-pass");
  EXPECT_EQ(made.finished.stats().full_steps(), 9) << "three windows of three steps";
  ASSERT_EQ(made.finished.notices_size(), 1);
  EXPECT_EQ(made.finished.notices(0).code(), "REFINED_CLIP_ENDS_EARLY");
  EXPECT_TRUE(made.file == Rendered(model_.path(), spec, clip.file, false));
}

// Both ways of the film, of which the first loses its worker as soon as two fragments have left:
// the first frame's, and one of a group.
struct TwoWays {
  StreamResult killed, undisturbed;
  std::string before;  // bytes that the watcher had of the lost attempt
  int steps_at_kill = 0;
};

TwoWays MakeInBothWays(const ReelServer& server, Calls& calls, const v1::VideoSpec& spec) {
  // Slow machines do not foresee it within a minute.
  constexpr absl::Duration kDeadline = absl::Minutes(4);
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = spec;
  TwoWays made;
  bool is_restarted = false;
  int steps = 0, fragments = 0;
  const auto kill_once = [&](const v1::VideoEvent& event) {
    if (event.has_progress()) steps = event.progress().step();
    is_restarted = is_restarted || event.has_restarted();
    if (!event.has_media()) return true;
    if (!is_restarted) made.before += event.media().data();
    if (event.media().fragment_end() && ++fragments == 2) {
      made.steps_at_kill = steps;
      for (const pid_t worker : server.Children()) ::kill(worker, SIGKILL);
    }
    return true;
  };
  made.killed = calls.Generate(request, kill_once, kDeadline);
  made.undisturbed = calls.Generate(request, nullptr, kDeadline);
  return made;
}

void ExpectNothingLost(const TwoWays& made, int all_steps) {
  ASSERT_TRUE(made.killed.status.ok()) << made.killed.status.error_message();
  ASSERT_TRUE(made.undisturbed.status.ok()) << made.undisturbed.status.error_message();
  EXPECT_THAT(made.killed.faults, IsEmpty());
  EXPECT_EQ(made.killed.restarts, 1);
  EXPECT_LT(made.steps_at_kill, all_steps) << "of all windows";
  EXPECT_EQ(made.undisturbed.finished.stats().full_steps(), all_steps);
  EXPECT_TRUE(made.killed.file == made.undisturbed.file);
  EXPECT_LT(made.before.size(), made.undisturbed.file.size());
  EXPECT_TRUE(made.undisturbed.file.starts_with(made.before));
  std::cout << "FIGURE killed behind step " << made.steps_at_kill << " of " << all_steps
            << "; the watcher had " << made.before.size() << " of " << made.undisturbed.file.size()
            << " bytes\n";
}

// Fifteen windows, of which the first ones have left by then.
TEST_F(RefinedVideo, OfLtxVideoOutlivesItsWorkerBetweenItsWindows) {
  ReelServer server(SetupOf(model_.path()));
  Calls calls(server.Connect());
  const StreamResult clip = calls.Generate(ClipSpec());
  ASSERT_TRUE(clip.status.ok()) << clip.status.error_message();
  const TwoWays made = MakeInBothWays(server, calls, Refining(SpecOf(481, 96, 96), clip.file));
  ExpectNothingLost(made, 45);
  EXPECT_GT(reel::testing::DecodeStart(made.before).luma.size(), 1);
}

// The first parts of both tracks have left by then.
TEST(RefinedFilm, OutlivesItsWorkerBetweenItsWindowsWithTheSoundThatTheModelMakes) {
  const model::ltx2::TinyFolder model{"2.3", model::ltx2::Scheduler::kStatic};
  model.AddUpsampler("x2");
  std::ofstream(model.path() + "/reel.json") << kFewFrames;
  ReelServer server(SetupOf(model.path()));
  Calls calls(server.Connect());
  const StreamResult clip = calls.Generate(ClipSpec());
  ASSERT_TRUE(clip.status.ok()) << clip.status.error_message();
  const TwoWays made = MakeInBothWays(server, calls, Refining(SpecOf(481, 128, 64), clip.file));
  ExpectNothingLost(made, 45);
  EXPECT_TRUE(made.undisturbed.finished.media().has_sound());
  const auto seen = reel::testing::DecodeStart(made.before);
  EXPECT_GT(seen.luma.size(), 1);
  EXPECT_FALSE(seen.sound.empty());
}

}  // namespace
}  // namespace reel::tests
