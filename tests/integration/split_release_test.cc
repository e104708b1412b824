// SPDX-License-Identifier: Apache-2.0
// LTX-2.5, tiny, by the real programs: its folder, and its release in a file for each part.
#include "tests/fakes/split_release.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/fakes/decoded_video.h"
#include "tests/fakes/temp_folder.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kPrompt[] = "a red fox walks through a snowy forest";
constexpr char kPreset[] = "22b-2.5-distilled";
constexpr int kFrames = 17, kSampleRate = 48'000;

class NewestRelease : public ::testing::Test {
 protected:
  std::string Config() const {
    return absl::StrCat("models { name: 'folder' path: '", folder_.path(),
                        "' dtype: 'fp32' } models { name: 'files' path: '", transformer_,
                        "' dtype: 'fp32' parts { part: 'vae' path: '", vae_,
                        "' } parts { part: 'audio_vae' path: '", sound_,
                        "' } parts { part: 'text_encoder' path: '", text_, "' } }");
  }
  std::vector<std::string> FilesFlags() const {
    return {"--model", transformer_,          "--part", "vae=" + vae_,
            "--part",  "audio_vae=" + sound_, "--part", "text_encoder=" + text_};
  }
  static v1::VideoSpec SpecOf(const std::string& model) {
    v1::VideoSpec spec;
    spec.set_model(model);
    spec.set_preset(kPreset);
    spec.set_prompt(kPrompt);
    spec.set_width(96);
    spec.set_height(64);
    spec.set_num_frames(kFrames);
    spec.set_frame_rate(25);
    spec.set_max_text_tokens(64);
    spec.set_seed(7);
    return spec;
  }
  std::string Rendered(std::vector<std::string> flags) const {
    const std::string film = output_.File("film.mp4");
    flags.insert(flags.end(), {"--preset",
                               kPreset,
                               "--prompt",
                               kPrompt,
                               "--dtype",
                               "fp32",
                               "--device",
                               "cpu",
                               "--width",
                               "96",
                               "--height",
                               "64",
                               "--num-frames",
                               std::to_string(kFrames),
                               "--frame-rate",
                               "25",
                               "--seed",
                               "7",
                               "--output",
                               film,
                               "--max-text-tokens",
                               "64"});
    const ProgramResult done = RunProgram(BinaryPath("reel-render"), flags);
    EXPECT_EQ(done.status, 0) << done.errors;
    return output_.Read("film.mp4");
  }
  static ProgramResult Doctor(std::vector<std::string> flags) {
    flags.insert(flags.begin(), "doctor");
    return RunProgram(BinaryPath("reel"), flags);
  }

  const model::ltx2::TinyFolder folder_{"2.5", model::ltx2::Scheduler::kStatic};
  const model::ltx2::SplitRelease release_{folder_};
  const std::string transformer_ =
      release_.Transformer({"model."}, "ltx-2.5-22b-distilled.safetensors");
  const std::string vae_ = release_.Vae(), sound_ = release_.AudioVae();
  const std::string text_ = release_.TextEncoder();
  const testing::TempFolder output_;
};

TEST_F(NewestRelease, MakesOneFilmByServerAndRendererFromItsFolderAndItsFiles) {
  ReelServer server({Config(), {}, "", true});
  Calls calls(server.Connect());
  const StreamResult made = calls.Generate(SpecOf("folder"));
  ASSERT_TRUE(made.status.ok()) << made.status.error_message();
  EXPECT_THAT(made.faults, IsEmpty());
  const auto film = reel::testing::Decode(made.file);
  ASSERT_TRUE(film.ok()) << film.status();
  EXPECT_EQ(film->luma.size(), size_t{kFrames});
  EXPECT_EQ(film->sample_rate, kSampleRate);
  EXPECT_GE(film->sound.size() / 2, size_t{kSampleRate} * kFrames / 25);
  EXPECT_TRUE(made.file == Rendered({"--model", folder_.path()}));
  const StreamResult of_files = calls.Generate(SpecOf("files"));
  ASSERT_TRUE(of_files.status.ok()) << of_files.status.error_message();
  EXPECT_TRUE(of_files.file == made.file);
  EXPECT_TRUE(made.file == Rendered(FilesFlags()));
}

TEST_F(NewestRelease, IsFoundWholeByTheDoctorAsFolderAndAsFiles) {
  const ProgramResult whole = Doctor({"--model", folder_.path()});
  EXPECT_EQ(whole.status, 0) << whole.out << whole.errors;
  EXPECT_THAT(whole.out, HasSubstr("ok       model: LTX-2.5"));
  const ProgramResult files = Doctor(FilesFlags());
  EXPECT_EQ(files.status, 0) << files.out << files.errors;
  EXPECT_THAT(files.out, HasSubstr("ok       model: LTX-2.5"));
  const ProgramResult silent =
      Doctor({"--model", transformer_, "--part", "vae=" + vae_, "--part", "text_encoder=" + text_});
  EXPECT_EQ(silent.status, 3) << silent.out << silent.errors;
  EXPECT_THAT(silent.out, HasSubstr("audio"));
}

}  // namespace
}  // namespace reel::tests
