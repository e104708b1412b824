// SPDX-License-Identifier: Apache-2.0
// Films of LTX-2 with a sound that the request brings: its latents are held to the bit, and the
// pictures follow it.
#include "model/own_sound.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/own_sound_latents.h"
#include "tests/unit/model/family/kept_draft.h"
#include "tests/unit/model/ltx/pipeline_run.h"
#include "tests/unit/model/ltx2/film.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

constexpr SoundFormat kFormat = {.sample_rate = 16'000, .channels = 2};

Condition Sound(double seconds, double hertz, bool is_cut = false) {
  auto sound = std::make_shared<ConditionSound>();
  sound->format = kFormat;
  sound->is_cut = is_cut;
  const auto samples = static_cast<int64_t>(std::ceil(seconds * kFormat.sample_rate));
  for (int64_t i = 0; i < samples; ++i) {
    const double second = static_cast<double>(i) / kFormat.sample_rate;
    const auto sample = static_cast<float>(0.3 * std::sin(6.2831853 * hertz * second));
    sound->interleaved.insert(sound->interleaved.end(), 2, sample);
  }
  Condition condition;
  condition.kind = Condition::Kind::kAudio;
  condition.sound = std::move(sound);
  return condition;
}

GenerationSpec With(GenerationSpec spec, double hertz, double seconds = 0) {
  const double all = spec.num_frames / spec.frame_rate;
  spec.conditions.push_back(Sound(seconds > 0 ? seconds : all, hertz));
  return spec;
}

struct OwnSoundCase {
  const char *name, *variant, *preset;
  double guidance = 1;
};

void PrintTo(const OwnSoundCase& one, std::ostream* out) { *out << one.name; }

class Ltx2OwnSound : public ::testing::TestWithParam<OwnSoundCase> {
 protected:
  void SetUp() override {
    if (!DeviceUnderTest().ok()) GTEST_SKIP() << "SKIPPED: this machine lacks the device";
    folder_ = std::make_unique<TinyFolder>(GetParam().variant);
    pipeline_ = LoadTiny(*folder_);
    ASSERT_NE(pipeline_, nullptr);
  }
  static GenerationSpec Spec() {
    GenerationSpec spec = TinySpec();
    spec.preset = GetParam().preset;
    spec.guidance_scale = spec.audio_guidance_scale = GetParam().guidance;
    return spec;
  }

  const TestRun test_;
  std::unique_ptr<TinyFolder> folder_;
  std::unique_ptr<Pipeline> pipeline_;
};

TEST_P(Ltx2OwnSound, IsHeldToTheBitAndPicturesFollowIt) {
  const Film without = Make(*pipeline_, Spec());
  const Film low = Make(*pipeline_, With(Spec(), 220)), high = Make(*pipeline_, With(Spec(), 3000));
  GenerationSpec other = With(Spec(), 220);
  other.seed = *other.seed + 1;
  const Film again = Make(*pipeline_, other);
  EXPECT_TRUE(again.audio.equal(low.audio)) << "no seed changes what is held";
  EXPECT_TRUE(again.wave.equal(low.wave));
  EXPECT_FALSE(again.video.equal(low.video));
  EXPECT_FALSE(low.audio.equal(high.audio));
  EXPECT_FALSE(low.video.equal(high.video)) << "pictures follow the sound";
  EXPECT_FALSE(low.video.equal(without.video));
  EXPECT_EQ(low.audio.sizes(), without.audio.sizes());
  EXPECT_EQ(low.wave.sizes(), without.wave.sizes());
  EXPECT_TRUE(low.frames.isfinite().all().item<bool>());
}

TEST_P(Ltx2OwnSound, LeavesToTheModelWhatLiesBehindItsEnd) {
  const Film whole = Make(*pipeline_, With(Spec(), 220));
  const int64_t latents = whole.audio.size(0);
  ASSERT_GT(latents, 6);
  GenerationSpec spec = With(Spec(), 220, 0.2);  // the sixth latent reaches its end
  const Film part = Make(*pipeline_, spec);
  spec.seed = *spec.seed + 1;
  const Film again = Make(*pipeline_, spec);
  for (int64_t i = 0; i < latents; ++i) {
    EXPECT_EQ(part.audio[i].equal(again.audio[i]), i < 6) << i;
  }
  EXPECT_TRUE(part.audio.slice(0, 0, 4).allclose(whole.audio.slice(0, 0, 4), 1e-4, 1e-4))
      << "what is held is what the sound has there";
}

TEST_P(Ltx2OwnSound, StandsBesideAFirstPicture) {
  GenerationSpec spec = Spec();
  spec.conditions.push_back(ltx::Pinned(ltx::Pictures(1), 0, 1));
  const Film picture = Make(*pipeline_, spec);
  const Film both = Make(*pipeline_, With(spec, 220));
  EXPECT_TRUE(both.audio.equal(Make(*pipeline_, With(Spec(), 220)).audio));
  EXPECT_TRUE(both.video.slice(0, 0, 6).equal(picture.video.slice(0, 0, 6))) << "96x64";
  EXPECT_FALSE(both.video.equal(picture.video));
}

TEST_P(Ltx2OwnSound, IsHeldAcrossParkingPiecesAndNeighbours) {
  const GenerationSpec spec = With(Spec(), 220);
  const Film film = Make(*pipeline_, spec);
  const auto neighbour = ltx::Begin(*pipeline_, Spec(), test_.run);
  const auto generation = ltx::Begin(*pipeline_, spec, test_.run);
  while (generation->step() < generation->num_steps()) {
    ASSERT_TRUE(generation->Park(true).ok() && generation->Resume().ok());
    ltx::StepAll(*pipeline_, {generation.get(), neighbour.get()}, test_.run);
  }
  const Film again = Made(*pipeline_, *generation);
  EXPECT_TRUE(again.audio.equal(film.audio));
  EXPECT_TRUE(again.wave.equal(film.wave));
  // Products of more rows may sum in another order.
  EXPECT_LT(RelativeError("video", again.video, film.video), kErrorBound);
  EXPECT_LT(RelativeError("frames", again.frames, film.frames), kErrorBound);
}

TEST_P(Ltx2OwnSound, TellsThatItIsLongerOrShorterThanTheVideo) {
  const auto codes = [&](const GenerationSpec& spec) {
    std::string all;
    const auto generation = ltx::Begin(*pipeline_, spec, test_.run);
    for (const Notice& notice : generation->text_facts().notices) all += notice.code + " ";
    return all;
  };
  EXPECT_EQ(codes(With(Spec(), 220)), "");
  EXPECT_EQ(codes(With(Spec(), 220, 0.2)), "OWN_SOUND_ENDS_EARLY ");
  GenerationSpec longer = Spec();
  longer.conditions.push_back(Sound(longer.num_frames / longer.frame_rate, 220, true));
  EXPECT_EQ(codes(longer), "OWN_SOUND_CUT ");
}

INSTANTIATE_TEST_SUITE_P(Films, Ltx2OwnSound,
                         ::testing::Values(OwnSoundCase{"of_2_0", "2.0", ""},
                                           OwnSoundCase{"of_2_3", "2.3", ""},
                                           OwnSoundCase{"guided", "2.3", "", 3},
                                           OwnSoundCase{"of_2_5", "2.5", ""}),
                         [](const auto& given) { return std::string(given.param.name); });

class Ltx2OwnSoundInTwoPasses : public DistilledFilmTest {
 protected:
  static GenerationSpec Spec() {
    GenerationSpec spec = TinySpec();
    spec.preset = "22b-2.3-distilled-two-pass";
    spec.width = 192;
    spec.height = 128;
    spec.num_inference_steps = 0;
    spec.timesteps = {1000, 909.375, 421.875};
    return spec;
  }
};

TEST_F(Ltx2OwnSoundInTwoPasses, IsHeldInBothAndInPromotionsOfDrafts) {
  const GenerationSpec spec = With(Spec(), 220);
  GenerationSpec other = spec;
  other.seed = *other.seed + 1;
  const Film film = Make(*pipeline_, spec), elsewhere = Make(*pipeline_, other);
  EXPECT_TRUE(film.audio.equal(elsewhere.audio));
  EXPECT_FALSE(film.video.equal(elsewhere.video));
  const auto draft = ltx::Begin(*pipeline_, DraftOf(spec), test_.run);
  while (draft->step() < draft->num_steps()) Step(*draft);
  EXPECT_TRUE(TokensOf(*pipeline_, *draft).audio.equal(film.audio));
  const auto promoted = BeginFrom(*pipeline_, PromotionOf(spec),
                                  FileOf(*pipeline_, *draft, DraftOf(spec)), test_.run);
  ASSERT_NE(promoted, nullptr);
  const Film again = Made(*pipeline_, *promoted);
  EXPECT_TRUE(again.video.equal(film.video));
  EXPECT_TRUE(again.audio.equal(film.audio));
  EXPECT_TRUE(again.frames.equal(film.frames));
  EXPECT_TRUE(again.wave.equal(film.wave));
}

}  // namespace
}  // namespace reel::model::ltx2
