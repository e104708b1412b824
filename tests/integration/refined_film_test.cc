// SPDX-License-Identifier: Apache-2.0
// Clips that a worker refines in several windows, whose frames leave in between: the files are
// those that reel-render makes, which decodes behind the last step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/fakes/temp_folder.h"
#include "tests/fakes/tiny_ltx2.h"
#include "tests/integration/calls.h"
#include "tests/integration/program.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::IsEmpty;

class RefinedFilm : public ::testing::Test {
 protected:
  RefinedFilm() {
    model_.AddUpsampler("x2");
    std::ofstream(model_.path() + "/reel.json") << R"({"limits": {"max_frames": 57}})";
  }
  ServerSetup Setup() const {
    return {absl::StrCat("models { name: 'tiny' path: '", model_.path(), "' dtype: 'fp32' }"),
            {},
            "",
            true};
  }
  static v1::VideoSpec Spec(int frames) {
    v1::VideoSpec spec;
    spec.set_prompt("a sharp fox");
    spec.set_num_frames(frames);
    spec.set_frame_rate(25);
    spec.set_max_text_tokens(64);
    spec.set_seed(7);
    return spec;
  }
  static v1::VideoSpec ClipSpec() {
    v1::VideoSpec spec = Spec(17);
    spec.set_width(96);
    spec.set_height(64);
    spec.set_num_inference_steps(2);
    return spec;
  }
  static v1::VideoSpec Refining(const std::string& clip, bool sound) {
    v1::VideoSpec spec = Spec(97);
    spec.set_width(192);
    spec.set_height(128);
    if (!sound) spec.set_sound(false);
    v1::Condition& condition = *spec.add_conditions();
    condition.set_use(v1::CONDITION_USE_REFINE);
    condition.set_video(clip);
    return spec;
  }
  std::string Rendered(bool sound) const {
    std::vector<std::string> arguments = {
        "--model",      model_.path(), "--dtype",           "fp32",
        "--device",     "cpu",         "--refine",          folder_.File("clip.mp4"),
        "--prompt",     "a sharp fox", "--width",           "192",
        "--height",     "128",         "--num-frames",      "97",
        "--frame-rate", "25",          "--max-text-tokens", "64",
        "--seed",       "7",           "--output",          folder_.File("alone.mp4")};
    if (!sound) arguments.push_back("--no-sound");
    const ProgramResult done = RunProgram(BinaryPath("reel-render"), arguments);
    EXPECT_EQ(done.status, 0) << done.errors;
    return folder_.Read("alone.mp4");
  }

  const model::ltx2::TinyFolder model_{"2.3", model::ltx2::Scheduler::kStatic};
  const testing::TempFolder folder_;
};

TEST_F(RefinedFilm, IsTheFileThatReelRenderMakes) {
  ReelServer server(Setup());
  Calls calls(server.Connect());
  const StreamResult clip = calls.Generate(ClipSpec());
  ASSERT_TRUE(clip.status.ok()) << clip.status.error_message();
  folder_.Write("clip.mp4", clip.file);
  for (const bool sound : {false, true}) {
    const StreamResult made = calls.Generate(Refining(clip.file, sound));
    ASSERT_TRUE(made.status.ok()) << made.status.error_message();
    EXPECT_THAT(made.faults, IsEmpty());
    EXPECT_EQ(made.finished.stats().full_steps(), 9) << "three windows of three steps";
    EXPECT_TRUE(made.file == Rendered(sound)) << sound;
  }
}

}  // namespace
}  // namespace reel::tests
