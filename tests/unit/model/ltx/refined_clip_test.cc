// SPDX-License-Identifier: Apache-2.0
// Clips of any origin that the second pass of LTX-Video refines: to the bit what its parts make by
// hand, in one window or in several.
#include "model/ltx/refined_clip.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "model/family/made_passes.h"
#include "model/frames/frame_output.h"
#include "model/ltx/decode_noise.h"
#include "model/ltx/denoiser.h"
#include "model/ltx/encode_stage.h"
#include "model/pass_work.h"
#include "model/refinement.h"
#include "tests/unit/model/family/kept_draft.h"
#include "tests/unit/model/ltx/refined_clip_fixture.h"

namespace reel::model::ltx {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> NoticesOf(Pipeline& pipeline, const GenerationSpec& spec,
                                   const TestRun& test) {
  std::vector<std::string> codes;
  const auto generation = Begin(pipeline, spec, test.run);
  for (const Notice& notice : generation->text_facts().notices) {
    if (notice.code.starts_with("REFINED")) codes.push_back(notice.code);
  }
  return codes;
}

class LtxRefinement : public LtxRefinedClip, public ::testing::WithParamInterface<RefinedCase> {
  void SetUp() override {
    if (GetParam().stochastic) DrawInSteps();
    LtxRefinedClip::SetUp();
  }
};

// As if a first pass had made what the autoencoder makes of the clip. Times of steps are computed
// together, of which such a pass has one more, so products round otherwise.
TEST_P(LtxRefinement, IsTheSecondPassOfADraftThatIsTheClip) {
  constexpr double kRounding = 1e-5;
  const GenerationSpec spec = Spec(GetParam());
  const auto refined = Made(spec);
  const auto model = LoadModel();
  ASSERT_NE(model, nullptr);
  GenerationSpec whole = Whole(GetParam(), kShort);
  MadePasses made;
  made.latents = EncodedClip(*model, kShort);
  made.generators = {{LtxGeneration::kOtherGenerator, GeneratorOf(whole)}};
  const PassState draft = StateOf(made, 1);
  auto promoted = pipeline_->CreateFrom(PromotionOf(whole), draft, test_.run);
  ASSERT_TRUE(promoted.ok()) << promoted.status();
  for (absl::StatusOr<bool> ready = false; !*ready;) {
    ready = pipeline_->BeginNext(**promoted, test_.run);
    ASSERT_TRUE(ready.ok()) << ready.status();
  }
  Finish(**promoted);
  EXPECT_LT(Compare("latents", LatentsMade(*refined), LatentsMade(**promoted)).relative, kRounding);
  const at::Tensor frames = DecodeAll(*pipeline_, *refined, test_.run).Values();
  const at::Tensor expected = DecodeAll(*pipeline_, **promoted, test_.run).Values();
  EXPECT_LT(Compare("frames", frames, expected).worst, kRounding);
}

INSTANTIATE_TEST_SUITE_P(Requests, LtxRefinement,
                         ::testing::Values(RefinedCase{"plain"}, RefinedCase{"guided", 3},
                                           RefinedCase{"stochastic", 1, true}),
                         [](const auto& given) { return given.param.name; });

TEST_F(LtxRefinedClip, IsTheStepsAndRowsOfTheSecondPassAlone) {
  EXPECT_THAT(RefiningPresets(pipeline_->card()), ElementsAre("2b-0.9.8-distilled-two-pass"));
  const GenerationSpec spec = Spec({"guided", 3});
  EXPECT_DOUBLE_EQ(*spec.denoise_strength, kFirstNoise);
  const std::vector<PassWork> passes = PassesOf(spec, pipeline_->card());
  ASSERT_THAT(passes, ElementsAre(PassWork{kPassSide, kPassSide, 48, 96, kOfAWindow}));
  EXPECT_EQ(RefinedClipSize(spec, pipeline_->card()), (FileSize{kClipSide, kClipSide}));
  const auto generation = Begin(*pipeline_, spec, test_.run);
  ASSERT_NE(generation, nullptr);
  for (int step = 0; step < kOfAWindow; ++step) {
    EXPECT_EQ(generation->step(), step);
    EXPECT_EQ(generation->num_steps(), kOfAWindow);
    EXPECT_EQ(generation->rows(), passes[0].rows);
    StepAll(*pipeline_, {generation.get()}, test_.run);
  }
  const CollectingSink sink = DecodeAll(*pipeline_, *generation, test_.run);
  EXPECT_EQ(sink.width, kVideoSide);
  EXPECT_EQ(sink.height, kVideoSide);
  EXPECT_EQ(sink.num_frames, kShort);
  EXPECT_TRUE(sink.Values().isfinite().all().item<bool>());
}

TEST_F(LtxRefinedClip, StaysNearlyTheClipWithLittleNoise) {
  EXPECT_EQ(PassesOf(Spec({}, kShort, 0.01), pipeline_->card())[0].steps, 1);
  EXPECT_EQ(PassesOf(Spec({}, kShort, 0.5), pipeline_->card())[0].steps, 2);
  const auto model = LoadModel();
  ASSERT_NE(model, nullptr);
  const GenerationSpec spec = Spec({}, kShort, 0.01);
  const at::Tensor clip = UpsampledClip(*model, spec);
  const double nearest = DecibelsOf(LatentsMade(*Made(spec)), clip);
  EXPECT_GT(nearest, 40);
  EXPECT_LT(DecibelsOf(LatentsMade(*Made(Spec({}, kShort, 0.5))), clip), nearest);
  std::cout << "FIGURE refined with 0.01 of noise: " << nearest << " dB from the clip's latents\n";
}

TEST_F(LtxRefinedClip, IsEncodedInPiecesNearlyAsAWhole) {
  constexpr int kTwoPieces = 161;  // 16 latents, and 5 more behind 4 that are dropped
  const auto model = LoadModel();
  ASSERT_NE(model, nullptr);
  const GenerationSpec spec = Spec({}, kTwoPieces);
  const auto begun = Begin(*pipeline_, spec, test_.run);
  const auto* const ready = dynamic_cast<LtxGeneration*>(begun.get());
  ASSERT_NE(ready, nullptr);
  const double distance = DecibelsOf(ready->refined->latents, UpsampledClip(*model, spec));
  EXPECT_GT(distance, 40);
  std::cout << "FIGURE encoded in two pieces: " << distance << " dB from one of one piece\n";
}

TEST_F(LtxRefinedClip, TellsThatItIsLongerOrShorterThanTheVideo) {
  GenerationSpec spec = Spec();
  EXPECT_THAT(NoticesOf(*pipeline_, spec, test_), ElementsAre());
  spec.conditions[0].pixels = DriftingClip(11, kClipSide, kClipSide);
  EXPECT_THAT(NoticesOf(*pipeline_, spec, test_), ElementsAre("REFINED_CLIP_ENDS_EARLY"));
  const auto longer = DriftingClip(kShort, kClipSide, kClipSide);
  longer->is_cut = true;
  spec.conditions[0].pixels = longer;
  EXPECT_THAT(NoticesOf(*pipeline_, spec, test_), ElementsAre("REFINED_CLIP_CUT"));
}

TEST_F(LtxRefinedClip, IsRefusedWhereItsPixelsDoNotFitOrNothingUpsamples) {
  for (const auto& pixels : {DriftingClip(17, 96, 96), DriftingClip(0, kClipSide, kClipSide)}) {
    GenerationSpec spec = Spec();
    spec.conditions[0].pixels = pixels;
    EXPECT_EQ(pipeline_->Create(spec, test_.run).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  const GenerationSpec spec = Spec();
  const auto without = Load(TinyFolder("0.9.5"));
  ASSERT_NE(without, nullptr);
  EXPECT_THAT(RefiningPresets(without->card()), ElementsAre());
  EXPECT_EQ(without->Create(spec, test_.run).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// Each window by hand: noise on its latents, those of the window before in front, the steps.
TEST_F(LtxLongRefinedClip, IsToTheBitItsWindowsByHand) {
  if (!OnCpus()) GTEST_SKIP() << "the windows by hand are computed on a CPU";
  const GenerationSpec spec = Spec({"guided", 3}, kLong);
  const std::vector<Stretch> windows = RefinementWindows(spec, pipeline_->card());
  ASSERT_THAT(windows, ElementsAre(Stretch{0, 8}, Stretch{2, 10}, Stretch{5, 13}));
  const auto model = LoadModel();
  ASSERT_NE(model, nullptr);
  const auto begun = Begin(*pipeline_, spec, test_.run);
  EXPECT_EQ(begun->num_steps(), 3 * kOfAWindow);
  const auto* const ready = dynamic_cast<LtxGeneration*>(begun.get());
  ASSERT_NE(ready, nullptr);
  DenoiseState state = ready->state;  // for its texts and places
  state.schedule = *GivenSchedule(model->scheduler, std::vector<double>{909.4, 725, 421.9});
  at::Generator generator = GeneratorOf(spec);
  Denoiser denoiser(model->transformer);
  at::Tensor clip = UpsampledClip(*model, spec), decode_noise;
  int64_t made = 0;
  for (const Stretch& window : windows) {
    const at::Tensor own = clip.slice(2, window.begin, window.end);
    const LatentShape shape = {own.size(2), own.size(3), own.size(4)};
    const at::Tensor noise = DrawNoise(shape, own.size(1), generator, at::kCPU);
    ConditionTokens tokens(shape, Noised(own, noise, state.schedule.sigmas[0]),
                           PlacesOf(spec.frame_rate));
    if (made > 0) {
      tokens.Add({.latents = clip.slice(2, window.begin, made), .is_picture = false}, generator);
    } else {
      decode_noise = DrawDecodeNoise(*model, {clip.size(2), shape.height, shape.width}, generator);
    }
    state.tokens = tokens.Finish();
    state.times = {};
    for (state.step = 0; state.step < kOfAWindow;) {
      DenoiseState* const one[] = {&state};
      denoiser.Step(ops_, one);
    }
    clip = clip.clone();
    clip.slice(2, window.begin, window.end).copy_(state.Latents());
    made = window.end;
  }
  const auto generation = Made(spec);
  EXPECT_TRUE(LatentsMade(*generation).equal(clip));
  at::Generator unused = GeneratorOf(spec);
  const at::Tensor decodable = Decodable(*model, spec, clip, decode_noise);
  const FrameSourcePtr source =
      model->decoder.Decode(ops_, decodable, {{}, *spec.decode_timestep, unused});
  CollectingSink sink(FrameFormat::kRgbF32);
  for (bool last = false; !last;) {
    const reel::model::Frames frames = source->Next(ops_);
    ASSERT_TRUE(PushFrames(ops_, Scaled(frames.x, kVideoSide, kVideoSide), sink).ok());
    last = frames.last;
  }
  EXPECT_EQ(FramesOfAll(*generation), sink.data);
}

// At frames 57 and 73 the first ones of the second and of the third window that are new.
TEST_F(LtxLongRefinedClip, HasSeamsThatAreNoWorseThanItsInside) {
  for (const double strength : {0.3, kFirstNoise}) {
    const auto generation = Made(Spec({}, kLong, strength));
    const at::Tensor frames = DecodeAll(*pipeline_, *generation, test_.run)
                                  .Values()
                                  .view({kLong, kVideoSide, kVideoSide, 3});
    double inside = 1000, seams = 1000;
    for (int64_t i = 1; i < kLong; ++i) {
      double& least = i == 57 || i == 73 ? seams : inside;
      least = std::min(least, DecibelsOf(frames[i - 1], frames[i]));
    }
    EXPECT_GE(seams, inside) << strength;
    std::cout << "FIGURE noise " << strength << ": neighbours across a seam " << seams
              << " dB, inside from " << inside << " dB on\n";
  }
}

}  // namespace
}  // namespace reel::model::ltx
