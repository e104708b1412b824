// SPDX-License-Identifier: Apache-2.0
// Drafts of LTX-2 and their promotions, which are to the bit the film in two passes, with its
// sound.
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/pass_work.h"
#include "tests/unit/model/family/kept_draft.h"
#include "tests/unit/model/ltx/pipeline_run.h"
#include "tests/unit/model/ltx2/film.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::HasSubstr;

constexpr int kDraftSteps = 3, kPromotionSteps = 3;

GenerationSpec FilmSpec(const std::string& preset, const std::vector<int>& pinned) {
  GenerationSpec spec = TinySpec();
  spec.preset = preset;
  spec.width = 192;
  spec.height = 128;
  spec.num_inference_steps = 0;
  spec.timesteps = {1000, 909.375, 421.875};
  for (const int frame : pinned) {
    spec.conditions.push_back(ltx::Pinned(ltx::Pictures(1, false, 128, 192), frame, 0.8));
  }
  return spec;
}

struct DraftCase {
  const char *name, *variant, *upsampler, *preset;
  std::vector<int> pinned = {};
};

void PrintTo(const DraftCase& one, std::ostream* out) { *out << one.name; }

class Ltx2Promotion : public ::testing::TestWithParam<DraftCase> {};

TEST_P(Ltx2Promotion, EqualsTheWholeFilmToTheBit) {
  if (!DeviceUnderTest().ok()) GTEST_SKIP() << "SKIPPED: this machine lacks the device";
  const auto& [name, variant, upsampler, preset, pinned] = GetParam();
  const TinyFolder folder(variant, Scheduler::kStatic);
  folder.AddUpsampler(upsampler);
  const auto pipeline = LoadTiny(folder), elsewhere = LoadTiny(folder);
  ASSERT_NE(pipeline, nullptr);
  ASSERT_NE(elsewhere, nullptr);
  const TestRun test;
  const GenerationSpec whole = FilmSpec(preset, pinned);
  const auto draft = ltx::Begin(*pipeline, DraftOf(whole), test.run);
  ASSERT_NE(draft, nullptr);
  for (int step = 0; step < kDraftSteps; ++step) {
    ltx::StepAll(*pipeline, {draft.get()}, test.run);
  }
  const std::string state = FileOf(*pipeline, *draft, DraftOf(whole));
  const auto generation = ltx::Begin(*pipeline, whole, test.run);
  const Film film = Made(*pipeline, *generation);
  for (Pipeline* const on : {pipeline.get(), elsewhere.get()}) {
    const auto promoted = BeginFrom(*on, PromotionOf(whole), state, test.run);
    ASSERT_NE(promoted, nullptr);
    const Film again = Made(*on, *promoted);
    EXPECT_TRUE(at::equal(again.video, film.video));
    EXPECT_TRUE(at::equal(again.audio, film.audio));
    EXPECT_TRUE(at::equal(again.frames, film.frames));
    EXPECT_TRUE(at::equal(again.wave, film.wave));
    EXPECT_EQ(FileOf(*on, *promoted, whole), FileOf(*pipeline, *generation, whole));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Films, Ltx2Promotion,
    ::testing::Values(
        DraftCase{"of_2_0", "2.0", "rational-x2", "19b-2.0-distilled-two-pass"},
        DraftCase{"of_2_3", "2.3", "x2", "22b-2.3-distilled-two-pass"},
        DraftCase{"from_a_first_picture", "2.3", "x2", "22b-2.3-distilled-two-pass", {0}},
        DraftCase{"from_pictures", "2.3", "x2", "22b-2.3-distilled-two-pass", {0, 9}},
        DraftCase{"of_2_5", "2.5", "x2", "22b-2.5-distilled-two-pass"},
        DraftCase{"of_2_5_from_a_picture", "2.5", "x2", "22b-2.5-distilled-two-pass", {0}}),
    [](const auto& given) { return std::string(given.param.name); });

class Ltx2Drafts : public DistilledFilmTest {
 protected:
  static GenerationSpec Whole(const std::vector<int>& pinned = {}) {
    return FilmSpec("22b-2.3-distilled-two-pass", pinned);
  }
  std::unique_ptr<Generation> Drafted(const GenerationSpec& whole) {
    auto draft = ltx::Begin(*pipeline_, DraftOf(whole), test_.run);
    while (draft->step() < draft->num_steps()) Step(*draft);
    return draft;
  }
  std::string StateOf(const GenerationSpec& whole) {
    return FileOf(*pipeline_, *Drafted(whole), DraftOf(whole));
  }
};

TEST_F(Ltx2Drafts, ADraftIsTheFirstPassWithItsSoundAtItsSize) {
  const std::vector<PassWork> passes = PassesOf(DraftOf(Whole()), pipeline_->card());
  ASSERT_EQ(passes.size(), 1u);
  const auto draft = ltx::Begin(*pipeline_, DraftOf(Whole()), test_.run);
  const auto both = ltx::Begin(*pipeline_, Whole(), test_.run);
  EXPECT_EQ(draft->num_steps(), kDraftSteps);
  for (int step = 0; step < kDraftSteps; ++step) {
    EXPECT_EQ(draft->rows(), passes[0].rows);
    Step(*draft);
    Step(*both);
  }
  EXPECT_EQ(draft->rows(), passes[0].rows) << "no second pass follows";
  EXPECT_TRUE(at::equal(TokensOf(*pipeline_, *draft).audio, TokensOf(*pipeline_, *both).audio));
  const Film film = Made(*pipeline_, *draft), whole = Made(*pipeline_, *both);
  EXPECT_EQ(film.frames.sizes(), (at::IntArrayRef{17, 64, 96, 3}));
  EXPECT_EQ(film.wave.sizes(), whole.wave.sizes());
}

TEST_F(Ltx2Drafts, APromotionTellsTheStepsAndRowsThatItsCardGives) {
  const GenerationSpec promotion = PromotionOf(Whole({9}));
  const std::vector<PassWork> passes = PassesOf(promotion, pipeline_->card());
  ASSERT_EQ(passes.size(), 1u);
  const auto promoted = BeginFrom(*pipeline_, promotion, StateOf(Whole({9})), test_.run);
  ASSERT_NE(promoted, nullptr);
  EXPECT_EQ(promoted->num_steps(), kPromotionSteps);
  for (int step = 0; step < kPromotionSteps; ++step) {
    EXPECT_EQ(promoted->step(), step);
    EXPECT_EQ(promoted->rows(), passes[0].rows * (3 + 1) / 3) << "with the picture's tokens";
    Step(*promoted);
  }
}

TEST_F(Ltx2Drafts, SurvivesParkingAndNeighboursOnEitherSide) {
  const GenerationSpec whole = Whole({0});
  const Film film = Make(*pipeline_, whole);
  GenerationSpec other = whole;
  other.prompt = "an owl";
  const auto neighbour = ltx::Begin(*pipeline_, other, test_.run);
  const auto finish = [&](Generation& generation) {
    while (generation.step() < generation.num_steps()) {
      ASSERT_TRUE(generation.Park(true).ok() && generation.Resume().ok());
      ASSERT_TRUE(pipeline_->Preview(generation, 48, test_.run).ok());
      if (neighbour->step() < neighbour->num_steps()) Step(*neighbour);
      Step(generation);
    }
  };
  const auto draft = ltx::Begin(*pipeline_, DraftOf(whole), test_.run);
  finish(*draft);
  const auto promoted = BeginFrom(*pipeline_, PromotionOf(whole),
                                  FileOf(*pipeline_, *draft, DraftOf(whole)), test_.run);
  ASSERT_NE(promoted, nullptr);
  finish(*promoted);
  const Film again = Made(*pipeline_, *promoted);
  EXPECT_TRUE(at::equal(again.frames, film.frames));
  EXPECT_TRUE(at::equal(again.wave, film.wave));
}

TEST_F(Ltx2Drafts, RefusesValuesThatAreNotOfThisFilm) {
  const PassState made = ReadState(StateOf(Whole()))->made;
  ASSERT_EQ(made.tensors.size(), 4u);
  for (const auto& [name, spoilt] : Spoilt(made)) {
    const absl::Status refusal = Refusal(*pipeline_, PromotionOf(Whole()), spoilt, test_.run);
    EXPECT_EQ(refusal.code(), absl::StatusCode::kFailedPrecondition) << name << refusal;
    EXPECT_THAT(std::string(refusal.message()), HasSubstr(name));
  }
}

}  // namespace
}  // namespace reel::model::ltx2
