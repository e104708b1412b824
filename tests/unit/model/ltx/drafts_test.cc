// SPDX-License-Identifier: Apache-2.0
// Drafts of LTX-Video and their promotions, which are to the bit the video in two passes.
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "model/pass_work.h"
#include "model/resolve.h"
#include "tests/unit/model/family/kept_draft.h"
#include "tests/unit/model/ltx/pipeline_run.h"

namespace reel::model::ltx {
namespace {

using ::testing::HasSubstr;

constexpr int kWholeSide = 96, kDraftSide = 64, kDraftFrames = 9;
constexpr int kDraftSteps = 7, kPromotionSteps = 3;

struct DraftCase {
  const char* name;
  double guidance = 1;
  std::vector<int> pinned = {};  // frames at which pictures are
  bool stochastic = false;
  std::string profile = "auto";
};

void PrintTo(const DraftCase& one, std::ostream* out) { *out << one.name; }

class LtxDrafts : public LtxPipeline {
 protected:
  void SetUp() override {
    LtxPipeline::SetUp();
    if (IsSkipped()) return;
    folder_.AddUpsampler("spatial");
    pipeline_ = Load(folder_);
    ASSERT_NE(pipeline_, nullptr);
  }
  GenerationSpec Spec(const DraftCase& one) const {
    GenerationSpec spec;
    spec.preset = "2b-0.9.8-distilled-two-pass";
    spec.prompt = "a red fox walks through a snowy forest. cinematic, 35mm film";
    spec.negative_prompt = "worst quality, blurry";
    spec.width = spec.height = kWholeSide;
    spec.num_frames = kDraftFrames;
    spec.frame_rate = 25;
    spec.seed = 3;
    spec.max_text_tokens = 24;
    spec.guidance_scale = one.guidance;
    spec.kernels.profile = one.profile;
    for (const int frame : one.pinned) {
      spec.conditions.push_back(Pinned(Pictures(1, false, kWholeSide, kWholeSide), frame, 0.9));
      spec.conditions.back().size_bytes = 1;
    }
    Resolution resolution = Resolve(spec, pipeline_->card(), RequestLimits(), 0);
    EXPECT_TRUE(resolution.ok()) << resolution.violations[0].description;
    return resolution.spec;
  }
  void Finish(Generation& generation) {
    while (generation.step() < generation.num_steps()) {
      ASSERT_NO_FATAL_FAILURE(StepAll(*pipeline_, {&generation}, test_.run));
    }
  }
  // The file of a draft that was made to its end.
  std::string Drafted(const GenerationSpec& whole) {
    const auto draft = Begin(*pipeline_, DraftOf(whole), test_.run);
    Finish(*draft);
    return FileOf(*pipeline_, *draft, DraftOf(whole));
  }
  std::vector<uint8_t> Frames(Generation& generation) {
    return DecodeAll(*pipeline_, generation, test_.run).data;
  }
  std::vector<uint8_t> WholeFrames(const GenerationSpec& whole) {
    const auto generation = Begin(*pipeline_, whole, test_.run);
    Finish(*generation);
    return Frames(*generation);
  }

  const TestRun test_;
  const TinyFolder folder_{"0.9.5"};
  std::unique_ptr<Pipeline> pipeline_;
};

class LtxPromotion : public LtxDrafts, public ::testing::WithParamInterface<DraftCase> {
  void SetUp() override {
    if (GetParam().stochastic) {
      std::ofstream(folder_.path() + "/scheduler/scheduler_config.json")
          << R"({"_class_name": "FlowMatchEulerDiscreteScheduler", "stochastic_sampling": true})";
    }
    LtxDrafts::SetUp();
  }
};

TEST_P(LtxPromotion, EqualsTheWholeVideoToTheBit) {
  const GenerationSpec whole = Spec(GetParam());
  const std::string draft = Drafted(whole);
  // Another process, whose prompts are not encoded yet.
  const auto elsewhere = Load(folder_);
  ASSERT_NE(elsewhere, nullptr);
  for (Pipeline* const pipeline : {pipeline_.get(), elsewhere.get()}) {
    const auto promoted = BeginFrom(*pipeline, PromotionOf(whole), draft, test_.run);
    ASSERT_NE(promoted, nullptr);
    const auto generation = Begin(*pipeline_, whole, test_.run);
    Finish(*generation);
    while (promoted->step() < promoted->num_steps()) {
      ASSERT_NO_FATAL_FAILURE(StepAll(*pipeline, {promoted.get()}, test_.run));
    }
    EXPECT_EQ(FileOf(*pipeline, *promoted, whole), FileOf(*pipeline_, *generation, whole));
    EXPECT_EQ(DecodeAll(*pipeline, *promoted, test_.run).data, Frames(*generation));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Requests, LtxPromotion,
    ::testing::Values(DraftCase{.name = "plain"}, DraftCase{.name = "guided", .guidance = 3},
                      DraftCase{.name = "pinned", .guidance = 3, .pinned = {0}},
                      DraftCase{.name = "pinned_inside", .pinned = {0, 8}},
                      DraftCase{.name = "stochastic", .stochastic = true},
                      DraftCase{.name = "cache", .profile = "cache"},
                      DraftCase{.name = "reference", .profile = "reference"}),
    [](const auto& given) { return std::string(given.param.name); });

// Texts are read by an adapter once a pass.
TEST_F(LtxDrafts, OfAdaptersWithScalesOfEachPassArePromotedToTheWholeVideo) {
  LoadOptions options;
  options.adapter_ranks = 64;
  options.dtype = "fp32";
  pipeline_ = Load(folder_, options);
  ASSERT_NE(pipeline_, nullptr);
  GenerationSpec none = Spec({.name = "adapted", .guidance = 3}), first = none, second = none,
                 half = none;
  first.adapters = second.adapters =
      half.adapters = {{.name = "style",
                        .scale = 1,
                        .path = std::string(std::getenv("REEL_SOURCE")) +
                                "/tests/golden/adapters/ltx/style.safetensors"}};
  first.adapters[0].pass_scales = {1, 0};
  second.adapters[0].pass_scales = {0, 1};
  half.adapters[0].pass_scales = {1, 0.5};
  const auto promoted = [&](const GenerationSpec& spec, const std::string& draft) {
    const auto generation = BeginFrom(*pipeline_, PromotionOf(spec), draft, test_.run);
    Finish(*generation);
    return Frames(*generation);
  };
  const std::string adapted = Drafted(first), plain = Drafted(none);
  EXPECT_EQ(ReadState(Drafted(second))->made.tensors, ReadState(plain)->made.tensors);
  EXPECT_EQ(WholeFrames(first), promoted(none, adapted));
  EXPECT_NE(WholeFrames(first), WholeFrames(none));
  EXPECT_NE(promoted(second, adapted), promoted(none, adapted));
  EXPECT_EQ(WholeFrames(half), promoted(half, Drafted(half)));
  const auto parked = Begin(*pipeline_, half, test_.run);
  ASSERT_NO_FATAL_FAILURE(StepAll(*pipeline_, {parked.get()}, test_.run));
  ASSERT_TRUE(parked->Park(true).ok() && parked->Resume().ok());
  Finish(*parked);
  EXPECT_EQ(Frames(*parked), WholeFrames(half));
}

TEST_F(LtxDrafts, ADraftIsTheFirstPassDecodedAtItsSize) {
  const GenerationSpec whole = Spec({.name = "pinned", .pinned = {0}});
  const auto draft = Begin(*pipeline_, DraftOf(whole), test_.run);
  ASSERT_NE(draft, nullptr);
  const std::vector<PassWork> passes = PassesOf(DraftOf(whole), pipeline_->card());
  ASSERT_EQ(passes.size(), 1u);
  EXPECT_EQ(draft->num_steps(), kDraftSteps);
  EXPECT_EQ(draft->num_steps(), passes[0].steps);
  const auto both = Begin(*pipeline_, whole, test_.run);
  for (int step = 0; step < kDraftSteps; ++step) {
    EXPECT_EQ(draft->rows(), passes[0].rows);
    StepAll(*pipeline_, {draft.get()}, test_.run);
    StepAll(*pipeline_, {both.get()}, test_.run);
  }
  EXPECT_EQ(draft->rows(), passes[0].rows) << "no second pass follows";
  EXPECT_TRUE(LatentsOf(*pipeline_, *draft).equal(LatentsOf(*pipeline_, *both)));
  const CollectingSink sink = DecodeAll(*pipeline_, *draft, test_.run);
  EXPECT_EQ(sink.width, kDraftSide);
  EXPECT_EQ(sink.height, kDraftSide);
  EXPECT_EQ(sink.num_frames, kDraftFrames);
}

TEST_F(LtxDrafts, APromotionTellsTheStepsAndRowsThatItsCardGives) {
  const GenerationSpec whole = Spec({.name = "guided", .guidance = 3});
  const auto promoted = BeginFrom(*pipeline_, PromotionOf(whole), Drafted(whole), test_.run);
  ASSERT_NE(promoted, nullptr);
  const std::vector<PassWork> passes = PassesOf(PromotionOf(whole), pipeline_->card());
  ASSERT_EQ(passes.size(), 1u);
  EXPECT_EQ(promoted->num_steps(), kPromotionSteps);
  EXPECT_EQ(promoted->num_steps(), passes[0].steps);
  for (int step = 0; step < kPromotionSteps; ++step) {
    EXPECT_EQ(promoted->step(), step);
    EXPECT_EQ(promoted->rows(), passes[0].rows);
    StepAll(*pipeline_, {promoted.get()}, test_.run);
  }
}

TEST_F(LtxDrafts, SurvivesParkingPiecesAndNeighboursOnEitherSide) {
  const GenerationSpec whole = Spec({.name = "pinned", .guidance = 3, .pinned = {8}});
  const std::vector<uint8_t> frames = WholeFrames(whole);
  GenerationSpec other = whole;
  other.prompt = "an owl";
  const auto neighbour = Begin(*pipeline_, other, test_.run);
  const auto finish = [&](Generation& generation) {
    while (generation.step() < generation.num_steps()) {
      ASSERT_TRUE(generation.Park(true).ok() && generation.Resume().ok());
      ASSERT_TRUE(pipeline_->Preview(generation, 48, test_.run).ok());
      if (neighbour->step() < neighbour->num_steps()) {
        StepAll(*pipeline_, {neighbour.get()}, test_.run);
      }
      Generation* const batch[] = {&generation};
      const auto step = pipeline_->BeginStep(batch, 4, test_.run);
      auto results = step->Next(test_.run);
      while (!results.has_value()) results = step->Next(test_.run);
      ASSERT_TRUE(results->at(0).ok()) << results->at(0);
    }
  };
  const auto draft = Begin(*pipeline_, DraftOf(whole), test_.run);
  finish(*draft);
  const auto promoted = BeginFrom(*pipeline_, PromotionOf(whole),
                                  FileOf(*pipeline_, *draft, DraftOf(whole)), test_.run);
  ASSERT_NE(promoted, nullptr);
  finish(*promoted);
  EXPECT_EQ(Frames(*promoted), frames);
}

TEST_F(LtxDrafts, RefusesValuesThatAreNotOfThisVideo) {
  const GenerationSpec whole = Spec({.name = "plain"});
  const PassState made = ReadState(Drafted(whole))->made;
  ASSERT_EQ(made.tensors.size(), 2u);
  for (const auto& [name, spoilt] : Spoilt(made)) {
    const absl::Status refusal = Refusal(*pipeline_, PromotionOf(whole), spoilt, test_.run);
    EXPECT_EQ(refusal.code(), absl::StatusCode::kFailedPrecondition) << name << refusal;
    EXPECT_THAT(std::string(refusal.message()), HasSubstr(name));
  }
  GenerationSpec larger = PromotionOf(whole);
  larger.width = 192;
  EXPECT_THAT(std::string(Refusal(*pipeline_, larger, made, test_.run).message()),
              HasSubstr("latents are [1,8,2,2,2], but of this model [1,8,2,2,4]"));
}

TEST_F(LtxDrafts, TellsNoStateBeforeItIsReady) {
  const auto draft = pipeline_->Create(DraftOf(Spec({.name = "plain"})), test_.run);
  ASSERT_TRUE(draft.ok());
  EXPECT_EQ(pipeline_->State(**draft).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace reel::model::ltx
