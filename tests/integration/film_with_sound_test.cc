// SPDX-License-Identifier: Apache-2.0
// A real server with a real, tiny LTX-2 model makes films with sound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/fakes/decoded_video.h"
#include "tests/fakes/tiny_ltx2.h"
#include "tests/fakes/wav_file.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Picture() {
  std::ifstream in(std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/pictures/rgb.png",
                   std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

constexpr int kSampleRate = 48'000;
constexpr size_t kFrames = 17;

class FilmWithSound : public ::testing::Test {
 protected:
  static ServerSetup Setup(const std::string& path) {
    ServerSetup setup;
    setup.config = absl::StrCat("models { name: 'tiny' path: '", path, "' dtype: 'fp32' }");
    return setup;
  }
  static v1::VideoSpec Spec() {
    v1::VideoSpec spec;
    spec.set_prompt("a red fox walks through a snowy forest");
    spec.set_width(96);
    spec.set_height(64);
    spec.set_num_frames(kFrames);
    spec.set_frame_rate(25);
    spec.set_num_inference_steps(2);
    spec.set_max_text_tokens(64);
    spec.set_seed(7);
    return spec;
  }

  const model::ltx2::TinyFolder folder_{"2.3"};
  ReelServer server_{Setup(folder_.path())};
  Calls calls_{server_.Connect()};
};

TEST_F(FilmWithSound, HasBothTracksInStep) {
  const StreamResult result = calls_.Generate(Spec());
  ASSERT_TRUE(result.status.ok()) << result.status.error_message();
  EXPECT_THAT(result.faults, IsEmpty());
  EXPECT_TRUE(result.finished.media().has_sound());
  EXPECT_EQ(result.finished.media().sample_rate(), kSampleRate);
  EXPECT_THAT(result.finished.media().content_type(), EndsWith(", mp4a.40.2\""));
  const auto film = reel::testing::Decode(result.file);
  ASSERT_TRUE(film.ok()) << film.status();
  EXPECT_EQ(film->luma.size(), kFrames);
  EXPECT_EQ(film->sample_rate, kSampleRate);
  EXPECT_GE(film->sound.size() / 2, kSampleRate * kFrames / 25);
  double squares = 0;
  for (const float sample : film->sound) squares += double{sample} * sample;
  EXPECT_GT(std::sqrt(squares / static_cast<double>(film->sound.size())), 0.1);
  EXPECT_EQ(calls_.Generate(Spec()).file, result.file);
}

TEST_F(FilmWithSound, FollowsTheGuidanceOfTheRequest) {
  const StreamResult plain = calls_.Generate(Spec());
  v1::VideoSpec spec = Spec();
  spec.set_audio_modality_scale(6);
  const StreamResult other = calls_.Generate(spec);
  ASSERT_TRUE(plain.status.ok() && other.status.ok()) << other.status.error_message();
  EXPECT_NE(other.file, plain.file);
  EXPECT_EQ(other.finished.spec().audio_modality_scale(), 6);
}

TEST_F(FilmWithSound, BeginsWithAPicture) {
  const StreamResult plain = calls_.Generate(Spec());
  v1::VideoSpec spec = Spec();
  spec.add_conditions()->set_image(Picture());
  const StreamResult film = calls_.Generate(spec);
  ASSERT_TRUE(plain.status.ok() && film.status.ok()) << film.status.error_message();
  EXPECT_TRUE(film.finished.media().has_sound());
  EXPECT_NE(film.file, plain.file);
}

TEST_F(FilmWithSound, FollowsTheSoundOfTheRequest) {
  v1::VideoSpec spec = Spec();
  spec.add_conditions()->set_audio(reel::testing::WavFile(440, 1));
  const StreamResult film = calls_.Generate(spec), again = calls_.Generate(spec);
  ASSERT_TRUE(film.status.ok()) << film.status.error_message();
  EXPECT_THAT(film.faults, IsEmpty());
  EXPECT_EQ(film.finished.spec().conditions(0).content_type(), "audio/wav");
  EXPECT_EQ(film.finished.spec().conditions(0).audio(), "") << "bytes are not sent back";
  EXPECT_EQ(film.file, again.file);
  ASSERT_EQ(film.finished.notices_size(), 1);
  EXPECT_EQ(film.finished.notices(0).code(), "OWN_SOUND_CUT");
  *spec.mutable_conditions(0)->mutable_audio() = reel::testing::WavFile(2000, 1);
  EXPECT_NE(calls_.Generate(spec).file, film.file);
  spec.mutable_conditions(0)->set_audio("no sound");
  const StreamResult refused = calls_.Generate(spec);
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(refused.status.error_message(), HasSubstr("conditions[0] is not a WAV"));
  EXPECT_TRUE(calls_.Generate(Spec()).status.ok()) << "others go on";
}

TEST_F(FilmWithSound, NamesTheNearestPlaceOfAPicture) {
  v1::VideoSpec spec = Spec();
  spec.add_conditions()->set_image(Picture());
  spec.mutable_conditions(0)->set_frame_index(5);
  const StreamResult refused = calls_.Generate(spec);
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(refused.status.error_message(), HasSubstr("nearest: 9"));
}

class FilmInTwoPasses : public ::testing::Test {
 protected:
  static ServerSetup Setup(const model::ltx2::TinyFolder& folder) {
    folder.AddUpsampler("x2");
    ServerSetup setup;
    setup.config =
        absl::StrCat("models { name: 'tiny' path: '", folder.path(), "' dtype: 'fp32' }");
    return setup;
  }
  static v1::VideoSpec Spec() {
    v1::VideoSpec spec;
    spec.set_prompt("a red fox walks through a snowy forest");
    spec.set_preset("22b-2.3-distilled-two-pass");
    spec.set_width(128);
    spec.set_height(128);
    spec.set_num_frames(kFrames);
    spec.set_max_text_tokens(64);
    spec.set_seed(7);
    return spec;
  }

  const model::ltx2::TinyFolder folder_{"2.3", model::ltx2::Scheduler::kStatic};
  ReelServer server_{Setup(folder_)};
  Calls calls_{server_.Connect()};
};

TEST_F(FilmInTwoPasses, HasTheStepsOfBothAndThePictureInBoth) {
  v1::VideoSpec spec = Spec();
  const StreamResult plain = calls_.Generate(spec);
  ASSERT_TRUE(plain.status.ok()) << plain.status.error_message();
  EXPECT_THAT(plain.faults, IsEmpty());
  EXPECT_TRUE(plain.finished.media().has_sound());
  EXPECT_EQ(plain.finished.progress().num_steps(), 8 + 3);
  spec.add_conditions()->set_image(Picture());
  const StreamResult film = calls_.Generate(spec);
  ASSERT_TRUE(film.status.ok()) << film.status.error_message();
  EXPECT_NE(film.file, plain.file);
}

TEST_F(FilmInTwoPasses, RefusesSidesThatTheFirstWouldCut) {
  v1::VideoSpec spec = Spec();
  spec.set_width(96);
  const StreamResult refused = calls_.Generate(spec);
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(refused.status.error_message(), HasSubstr("96 is not a multiple of 64"));
}

}  // namespace
}  // namespace reel::tests
