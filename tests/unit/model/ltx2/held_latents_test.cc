// SPDX-License-Identifier: Apache-2.0
// Extensions and retakes of LTX-2: pictures and sound that they hold are the source's to the bit.
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/held_stretch.h"
#include "tests/unit/model/family/kept_draft.h"
#include "tests/unit/model/ltx/pipeline_run.h"
#include "tests/unit/model/ltx2/film.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::HasSubstr;

constexpr int kFrames = 33, kLatents = 5;
constexpr int64_t kOfAFrame = 6;  // tokens: 96x64

struct HeldCase {
  const char *name, *variant, *preset;
  double guidance = 1;
};

void PrintTo(const HeldCase& one, std::ostream* out) { *out << one.name; }

class Ltx2HeldLatents : public ::testing::TestWithParam<HeldCase> {
 protected:
  void SetUp() override {
    if (!DeviceUnderTest().ok()) GTEST_SKIP() << "SKIPPED: this machine lacks the device";
    folder_ = std::make_unique<TinyFolder>(GetParam().variant);
    pipeline_ = LoadTiny(*folder_);
    ASSERT_NE(pipeline_, nullptr);
    const auto generation = ltx::Begin(*pipeline_, Spec(), test_.run);
    source_ = MadeOf(*generation, Spec(), state_);
  }
  static GenerationSpec Spec() {
    GenerationSpec spec = TinySpec();
    spec.num_frames = kFrames;
    spec.preset = GetParam().preset;
    spec.guidance_scale = spec.audio_guidance_scale = GetParam().guidance;
    return spec;
  }
  Film MadeOf(Generation& generation, const GenerationSpec& spec, std::string& state) {
    while (generation.step() < generation.num_steps()) {
      ltx::StepAll(*pipeline_, {&generation}, test_.run);
      if (HasFatalFailure()) return {};
    }
    state = FileOf(*pipeline_, generation, spec);
    return Made(*pipeline_, generation);
  }
  Film From(const GenerationSpec& spec) {
    const auto generation = BeginFrom(*pipeline_, spec, state_, test_.run);
    EXPECT_NE(generation, nullptr);
    return generation == nullptr ? Film() : Made(*pipeline_, *generation);
  }
  // Whether each part of the film's tokens is the source's.
  void ExpectHeld(const at::Tensor& tokens, const at::Tensor& source, const Stretch& made,
                  int64_t of_one) const {
    ASSERT_EQ(tokens.sizes(), source.sizes());
    EXPECT_TRUE(tokens.isfinite().all().item<bool>());
    for (int64_t i = 0; i * of_one < tokens.size(0); ++i) {
      const auto part = [&](const at::Tensor& t) {
        return t.slice(0, i * of_one, (i + 1) * of_one);
      };
      EXPECT_EQ(part(tokens).equal(part(source)), i < made.begin || i >= made.end) << i;
    }
  }
  Stretch SoundOf(const GenerationSpec& retake) const {
    const int64_t count = source_.audio.size(0);
    return RetakenSound(retake, 8, static_cast<double>(count) * 24 / kFrames, count);
  }

  const TestRun test_;
  std::unique_ptr<TinyFolder> folder_;
  std::unique_ptr<Pipeline> pipeline_;
  Film source_;
  std::string state_;
};

TEST_P(Ltx2HeldLatents, ARetakeMakesPicturesAndSoundOfItsStretchAnew) {
  const GenerationSpec spec = RetakeOf(Spec(), 0.4, 0.6);
  const Film retake = From(spec);
  ExpectHeld(retake.video, source_.video, {2, 3}, kOfAFrame);
  EXPECT_FALSE(retake.audio.equal(source_.audio));
  EXPECT_TRUE(retake.audio.slice(0, 0, 3).equal(source_.audio.slice(0, 0, 3)));
  EXPECT_TRUE(retake.audio.slice(0, -3).equal(source_.audio.slice(0, -3)));
  EXPECT_EQ(retake.frames.sizes(), source_.frames.sizes());
  EXPECT_EQ(retake.wave.sizes(), source_.wave.sizes()) << "sound stays in step";
}

TEST_P(Ltx2HeldLatents, ARetakeOfTheSoundKeepsAllPicturesAndTheReverse) {
  GenerationSpec spec = RetakeOf(Spec(), 0, kFrames / 24.0);
  spec.source->retake.keep_pictures = true;
  const Film sound = From(spec);
  EXPECT_TRUE(sound.video.equal(source_.video));
  EXPECT_TRUE(sound.frames.equal(source_.frames));
  ExpectHeld(sound.audio, source_.audio, {0, source_.audio.size(0)}, 1);
  spec.source->retake = {0, kFrames / 24.0, false, true};
  const Film pictures = From(spec);
  EXPECT_TRUE(pictures.audio.equal(source_.audio));
  EXPECT_TRUE(pictures.wave.equal(source_.wave));
  ExpectHeld(pictures.video, source_.video, {0, kLatents}, kOfAFrame);
}

TEST_P(Ltx2HeldLatents, AnExtensionBeginsWithTheSourcesLastPicturesAndSound) {
  const Film extension = From(ExtensionOf(Spec(), 16, 17));
  ASSERT_EQ(extension.video.size(0), kLatents * kOfAFrame);
  EXPECT_TRUE(
      extension.video.slice(0, 0, 3 * kOfAFrame).equal(source_.video.slice(0, 2 * kOfAFrame)));
  EXPECT_FALSE(
      extension.video.slice(0, 3 * kOfAFrame).equal(source_.video.slice(0, 3 * kOfAFrame)));
  // The sound's from the latent on that is nearest to frame 16 of 33.
  const int64_t count = source_.audio.size(0);
  bool begins = false;
  for (int64_t first = count * 16 / kFrames; first <= count * 16 / kFrames + 1; ++first) {
    begins =
        begins || extension.audio.slice(0, 0, count - first).equal(source_.audio.slice(0, first));
  }
  EXPECT_TRUE(begins);
  EXPECT_FALSE(extension.audio.slice(0, -4).equal(source_.audio.slice(0, -4)));
  EXPECT_EQ(extension.frames.size(0), 33);
}

TEST_P(Ltx2HeldLatents, AreHeldAcrossParkingPiecesAndNeighbours) {
  const GenerationSpec spec = RetakeOf(Spec(), 0.4, 0.6);
  const Film retake = From(spec);
  const auto neighbour = ltx::Begin(*pipeline_, Spec(), test_.run);
  const auto again = BeginFrom(*pipeline_, spec, state_, test_.run);
  ASSERT_NE(again, nullptr);
  while (again->step() < again->num_steps()) {
    ASSERT_TRUE(again->Park(true).ok() && again->Resume().ok());
    ASSERT_TRUE(pipeline_->Preview(*again, 48, test_.run).ok());
    ltx::StepAll(*pipeline_, {neighbour.get()}, test_.run);
    Generation* const batch[] = {again.get()};
    const auto step = pipeline_->BeginStep(batch, 4, test_.run);
    auto results = step->Next(test_.run);
    while (!results.has_value()) results = step->Next(test_.run);
    ASSERT_TRUE(results->at(0).ok()) << results->at(0);
  }
  const Film made = Made(*pipeline_, *again);
  EXPECT_TRUE(made.video.equal(retake.video));
  EXPECT_TRUE(made.audio.equal(retake.audio));
  EXPECT_TRUE(made.frames.equal(retake.frames));
  EXPECT_TRUE(made.wave.equal(retake.wave));
}

TEST_P(Ltx2HeldLatents, AreRefusedWhereTheyDoNotFit) {
  const PassState made = ReadState(state_)->made;
  for (const auto& [name, spoilt] : Spoilt(made)) {
    const absl::Status refusal = Refusal(*pipeline_, RetakeOf(Spec(), 0.4, 0.6), spoilt, test_.run);
    if (name.find("generator") != std::string::npos && refusal.ok()) continue;  // not needed
    EXPECT_EQ(refusal.code(), absl::StatusCode::kFailedPrecondition) << name << refusal;
    EXPECT_THAT(std::string(refusal.message()), HasSubstr(name));
  }
  EXPECT_THAT(
      std::string(Refusal(*pipeline_, ExtensionOf(Spec(), 8, 41), made, test_.run).message()),
      HasSubstr("33 frames, fewer than the overlap"));
}

INSTANTIATE_TEST_SUITE_P(Films, Ltx2HeldLatents,
                         ::testing::Values(HeldCase{"of_2_0", "2.0", ""},
                                           HeldCase{"of_2_3", "2.3", ""},
                                           HeldCase{"guided", "2.3", "", 3},
                                           HeldCase{"of_2_5", "2.5", ""}),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace reel::model::ltx2
