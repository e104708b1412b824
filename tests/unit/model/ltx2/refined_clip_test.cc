// SPDX-License-Identifier: Apache-2.0
// Clips of any origin, refined by the second pass alone.
#include "model/ltx2/refined_clip.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/ltx2_generation.h"
#include "model/pass_work.h"
#include "model/refinement.h"
#include "tests/unit/model/family/kept_draft.h"
#include "tests/unit/model/ltx/pipeline_run.h"
#include "tests/unit/model/ltx2/refined_clip_fixture.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_P(Ltx2RefinedClip, IsTheStepsOfTheSecondPassAlone) {
  const GenerationSpec spec = Spec();
  EXPECT_DOUBLE_EQ(*spec.denoise_strength, 0.909375);
  const std::vector<PassWork> passes = PassesOf(spec, pipeline_->card());
  ASSERT_THAT(passes, ElementsAre(PassWork{kFilmWidth, kFilmHeight, 72, 72, 3}));
  const auto generation = ltx::Begin(*pipeline_, spec, test_.run);
  ASSERT_NE(generation, nullptr);
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(generation->step(), step);
    EXPECT_EQ(generation->num_steps(), 3);
    EXPECT_EQ(generation->rows(), passes[0].rows);
    ltx::StepAll(*pipeline_, {generation.get()}, test_.run);
  }
  const Film film = Made(*pipeline_, *generation);
  EXPECT_EQ(film.frames.sizes(), (at::IntArrayRef{17, kFilmHeight, kFilmWidth, 3}));
  EXPECT_TRUE(film.frames.isfinite().all().item<bool>());
  EXPECT_TRUE(film.frames.equal(FilmOf(spec).frames)) << "of the same seed";
}

TEST_P(Ltx2RefinedClip, StaysNearlyTheClipWithLittleNoise) {
  EXPECT_EQ(PassesOf(Spec(17, 0.01), pipeline_->card())[0].steps, 1);
  EXPECT_EQ(PassesOf(Spec(17, 0.5), pipeline_->card())[0].steps, 2);
  const at::Tensor clip = UpsampledClip(17);
  const double nearest = DecibelsOf(FilmOf(Spec(17, 0.01)).video, clip);
  EXPECT_GT(nearest, 40);
  EXPECT_LT(DecibelsOf(FilmOf(Spec(17, 0.5)).video, clip), nearest);
  std::cout << "FIGURE refined with 0.01 of noise: " << nearest << " dB from the clip's latents\n";
}

TEST_P(Ltx2RefinedClip, IsEncodedInPiecesNearlyAsAWhole) {
  constexpr int kTwoPieces = 161;  // 16 latents, and 5 more behind 4 that are dropped
  const double distance =
      DecibelsOf(FilmOf(Spec(kTwoPieces, 0.01)).video, UpsampledClip(kTwoPieces));
  EXPECT_GT(distance, 40);
  std::cout << "FIGURE encoded in two pieces: " << distance << " dB from one of one piece\n";
}

TEST_P(Ltx2RefinedClip, CarriesItsSoundOverUnchanged) {
  GenerationSpec spec = WithSound(Spec());
  const Film film = FilmOf(spec);
  const ConditionSound& carried = *spec.conditions[0].carried_sound;
  ASSERT_EQ(film.wave.numel(), static_cast<int64_t>(carried.interleaved.size()));
  const at::Tensor samples =
      at::tensor(carried.interleaved, at::kFloat).view({-1, carried.format.channels}).t();
  EXPECT_TRUE(film.wave.equal(samples));
  const Film silent = FilmOf(Spec());
  EXPECT_FALSE(silent.wave.equal(film.wave)) << "without one the model makes it";
  EXPECT_GT(silent.wave.abs().max().item<double>(), 0);
  EXPECT_FALSE(silent.video.equal(film.video)) << "the pictures follow the sound";
  spec.seed = *spec.seed + 1;
  EXPECT_TRUE(FilmOf(spec).audio.equal(film.audio)) << "its latents are held";
}

TEST_P(Ltx2RefinedClip, StandsBesideASoundOfTheRequest) {
  GenerationSpec spec = Spec();
  Condition sound;
  sound.kind = Condition::Kind::kAudio;
  sound.sound = ToneOf(pipeline_->card().own_sound, spec.num_frames / spec.frame_rate, 500);
  spec.conditions.push_back(sound);
  const Film film = FilmOf(spec);
  spec.seed = *spec.seed + 1;
  EXPECT_TRUE(FilmOf(spec).audio.equal(film.audio));
}

TEST_P(Ltx2RefinedClip, TellsThatItIsLongerOrShorterThanTheVideo) {
  GenerationSpec spec = Spec();
  EXPECT_THAT(NoticesOf(spec), ElementsAre());
  spec.conditions[0].pixels = Drifting(11);
  EXPECT_THAT(NoticesOf(spec), ElementsAre("REFINED_CLIP_ENDS_EARLY"));
  EXPECT_EQ(FilmOf(spec).frames.size(0), 17);
  const auto longer = Drifting(17);
  longer->is_cut = true;
  spec.conditions[0].pixels = longer;
  EXPECT_THAT(NoticesOf(spec), ElementsAre("REFINED_CLIP_CUT"));
}

TEST_P(Ltx2RefinedClip, SurvivesParkingPiecesAndNeighbours) {
  const GenerationSpec spec = WithSound(Spec());
  const Film film = FilmOf(spec);
  const auto neighbour = ltx::Begin(*pipeline_, Spec(25), test_.run);
  const auto generation = ltx::Begin(*pipeline_, spec, test_.run);
  ASSERT_NE(generation, nullptr);
  while (generation->step() < generation->num_steps()) {
    ASSERT_TRUE(generation->Park(true).ok() && generation->Resume().ok());
    ASSERT_TRUE(pipeline_->Preview(*generation, 48, test_.run).ok());
    ltx::StepAll(*pipeline_, {neighbour.get()}, test_.run);
    Generation* const batch[] = {generation.get()};
    const auto step = pipeline_->BeginStep(batch, 4, test_.run);
    auto results = step->Next(test_.run);
    while (!results.has_value()) results = step->Next(test_.run);
    ASSERT_TRUE(results->at(0).ok()) << results->at(0);
  }
  const Film again = Made(*pipeline_, *generation);
  EXPECT_TRUE(again.frames.equal(film.frames));
  EXPECT_TRUE(again.wave.equal(film.wave));
}

TEST_P(Ltx2RefinedClip, IsRefusedWhereItsPixelsDoNotFit) {
  for (const auto& pixels : {Drifting(17, 96, 96), Drifting(0)}) {
    GenerationSpec spec = Spec();
    spec.conditions[0].pixels = pixels;
    EXPECT_EQ(pipeline_->Create(spec, test_.run).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Films, Ltx2RefinedClip,
    ::testing::Values(RefinedCase{"of_2_0", "2.0", "19b-2.0-distilled-two-pass"},
                      RefinedCase{"of_2_3", "2.3", "22b-2.3-distilled-two-pass"},
                      RefinedCase{"of_2_5", "2.5", "22b-2.5-distilled-two-pass"}),
    [](const auto& given) { return std::string(given.param.name); });

TEST_P(Ltx2LongRefinedClip, IsMadeInWindowsThatHoldTheEndOfTheOneBefore) {
  const GenerationSpec spec = Spec(kClipFrames);
  ASSERT_THAT(RefinementWindows(spec, pipeline_->card()),
              ElementsAre(Stretch{0, 8}, Stretch{2, 10}, Stretch{5, 13}));
  const auto generation = ltx::Begin(*pipeline_, spec, test_.run);
  ASSERT_NE(generation, nullptr);
  EXPECT_EQ(generation->num_steps(), 9);
  at::Tensor made;
  for (int step = 0; step < 9; ++step) {
    ltx::StepAll(*pipeline_, {generation.get()}, test_.run);
    if (step == 2) made = TokensOf(*pipeline_, *generation).video.slice(0, 0, 8 * kOfALatent);
  }
  const Film film = Made(*pipeline_, *generation);
  EXPECT_EQ(film.frames.size(0), kClipFrames);
  EXPECT_TRUE(film.video.slice(0, 0, 8 * kOfALatent).equal(made)) << "what is made stays";
  EXPECT_TRUE(film.video.isfinite().all().item<bool>());
}

// At frames 57 and 73 the first ones of the second and of the third window that are new.
TEST_P(Ltx2LongRefinedClip, HasSeamsThatAreNoWorseThanItsInside) {
  for (const double strength : {0.3, 0.909375}) {
    const at::Tensor frames = FilmOf(Spec(kClipFrames, strength)).frames;
    double inside = 1000, seams = 1000;
    for (int64_t i = 1; i < kClipFrames; ++i) {
      double& least = i == 57 || i == 73 ? seams : inside;
      least = std::min(least, DecibelsOf(frames[i - 1], frames[i]));
    }
    EXPECT_GE(seams, inside) << strength;
    std::cout << "FIGURE noise " << strength << ": neighbours across a seam " << seams
              << " dB, inside from " << inside << " dB on\n";
  }
}

TEST_P(Ltx2LongRefinedClip, IsTheSameParkedBetweenItsWindowsAndItsSoundGoesOn) {
  const GenerationSpec spec = Spec(kClipFrames);
  const Film film = FilmOf(spec);
  const double per_second = 25;  // latents of sound
  EXPECT_NEAR(static_cast<double>(film.audio.size(0)), kClipFrames / 24.0 * per_second, 1);
  EXPECT_GT(film.audio.abs().sum(1).min().item<double>(), 0) << "all of it is made";
  const auto generation = ltx::Begin(*pipeline_, spec, test_.run);
  while (generation->step() < generation->num_steps()) {
    ASSERT_TRUE(generation->Park(true).ok() && generation->Resume().ok());
    ASSERT_TRUE(pipeline_->Preview(*generation, 48, test_.run).ok());
    ltx::StepAll(*pipeline_, {generation.get()}, test_.run);
  }
  const Film again = Made(*pipeline_, *generation);
  EXPECT_TRUE(again.frames.equal(film.frames));
  EXPECT_TRUE(again.wave.equal(film.wave));
  const Film heard = FilmOf(WithSound(spec));
  GenerationSpec other = WithSound(spec);
  other.seed = *other.seed + 1;
  EXPECT_TRUE(FilmOf(other).audio.equal(heard.audio)) << "the clip's is held in every window";
}

// In windows before, around and behind the middle.
TEST_P(Ltx2LongRefinedClip, ShowsItsMiddleWithoutACopyOfTheWhole) {
  const GenerationSpec spec = Spec(161);
  ASSERT_THAT(
      RefinementWindows(spec, pipeline_->card()),
      ElementsAre(Stretch{0, 8}, Stretch{3, 11}, Stretch{6, 14}, Stretch{9, 17}, Stretch{13, 21}));
  const auto generation = ltx::Begin(*pipeline_, spec, test_.run);
  auto* const mine = dynamic_cast<Ltx2Generation*>(generation.get());
  ASSERT_NE(mine, nullptr);
  for (int step = 0; step < generation->num_steps(); ++step) {
    ltx::StepAll(*pipeline_, {generation.get()}, test_.run);
    const at::Tensor whole = RefinedPictures(*mine).narrow(2, 10, 1);
    EXPECT_TRUE(RefinedMiddle(*mine).cpu().equal(whole.cpu())) << step;
  }
  ASSERT_TRUE(pipeline_->Preview(*generation, 48, test_.run).ok());
}

INSTANTIATE_TEST_SUITE_P(Films, Ltx2LongRefinedClip,
                         ::testing::Values(RefinedCase{"of_2_3", "2.3",
                                                       "22b-2.3-distilled-two-pass"}),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace reel::model::ltx2
