// SPDX-License-Identifier: Apache-2.0
// Several films in one step: what a GPU makes of them, here on the CPU, against each one's own
// steps.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/ltx2/denoise_step.h"
#include "model/ltx2/encode_stage.h"
#include "model/ltx2/ltx2_card.h"
#include "model/ltx2/ltx2_model.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx2/film.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

// A request, and how far it is.
struct Asked {
  GenerationSpec spec;
  int steps_made = 0;
};

Condition FirstPicture(const GenerationSpec& spec, double strength) {
  ConditionPixels pixels = {spec.width, spec.height, 1, {}};
  pixels.rgb.assign(static_cast<size_t>(spec.width * spec.height * 3), 90);
  Condition condition;
  condition.strength = strength;
  condition.pixels = std::make_shared<const ConditionPixels>(std::move(pixels));
  return condition;
}

GenerationSpec Of(uint64_t seed) {
  GenerationSpec spec = TinySpec();
  spec.seed = seed;
  return spec;
}
GenerationSpec OfAllGuidance(uint64_t seed) {
  GenerationSpec spec = Of(seed);
  spec.guidance_scale = 3;
  spec.guidance_rescale = 0.7;
  spec.stg_scale = 1;
  spec.modality_scale = 2;
  return spec;
}
// `style` is for every layer, `turn` for the self attentions.
Asked Adapted(Asked asked, const std::string& name, double scale) {
  asked.spec.adapters.push_back({name, scale, "",
                                 std::string(std::getenv("REEL_SOURCE")) +
                                     "/tests/golden/adapters/ltx2/" + name + ".safetensors"});
  return asked;
}
GenerationSpec OfAPicture(uint64_t seed, double strength) {
  GenerationSpec spec = Of(seed);
  spec.conditions = {FirstPicture(spec, strength)};
  return spec;
}

class JoinedSteps : public ::testing::Test {
 protected:
  void SetUp() override {
    LoadOptions options;
    options.adapter_ranks = 64;
    options.path = folder_.path();
    options.dtype = "fp32";
    auto loaded = LoadLtx2Model(options, at::kCPU);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    model_ = *std::move(loaded);
    card_ = CardOf(*model_, "tiny");
  }
  DenoiseState StateFor(Asked asked) {
    asked.spec.stg_blocks = {1};
    const EncodeStage stage(*model_, card_);
    auto planned = stage.Plan(asked.spec);
    EXPECT_TRUE(planned.ok()) << planned.status();
    auto& mine = static_cast<Ltx2Generation&>(**planned);
    while (!mine.ready) EXPECT_TRUE(stage.Next(mine, Ops(test_.run)).ok());
    for (int step = 0; step < asked.steps_made; ++step) StepTogether({&mine.state});
    return mine.state;
  }
  void StepTogether(const std::vector<DenoiseState*>& states) {
    DenoiseStep(model_->transformer, states, &model_->adapter_shelf->columns())
        .Finish(Ops(test_.run));
  }

  const TinyFolder folder_{"2.3"};
  const TestRun test_;
  std::unique_ptr<Ltx2Model> model_;
  ModelCard card_;
};

TEST_F(JoinedSteps, AreEachVideosOwn) {
  const std::vector<std::vector<Asked>> batches = {
      {{Of(1)}, {Of(2), 1}},
      {{OfAllGuidance(1)}, {Of(2), 1}, {OfAllGuidance(3), 2}},
      {{OfAPicture(1, 0.5), 1}, {OfAllGuidance(2)}, {OfAPicture(3, 1)}},
      {Adapted({Of(1)}, "style", 0.5), {Of(2), 1}, Adapted({Of(3)}, "turn", -1)},
      {Adapted({OfAPicture(1, 0.5), 1}, "style", 0.5),
       Adapted({OfAllGuidance(2)}, "turn", 1),
       {OfAPicture(3, 1)},
       Adapted({OfAPicture(4, 0.7)}, "style", -0.25)}};
  for (const std::vector<Asked>& batch : batches) {
    std::vector<DenoiseState> alone, joined;
    for (const Asked& asked : batch) {
      alone.push_back(StateFor(asked));
      joined.push_back(StateFor(asked));
    }
    std::vector<DenoiseState*> all;
    for (DenoiseState& state : joined) {
      EXPECT_TRUE(CanShareStep(joined[0], state));
      all.push_back(&state);
    }
    StepTogether(all);
    for (size_t i = 0; i < batch.size(); ++i) {
      StepTogether({&alone[i]});
      EXPECT_EQ(joined[i].step, batch[i].steps_made + 1);
      const StreamTokens &ours = joined[i].latents, &own = alone[i].latents;
      EXPECT_LT(RelativeError("video", ours.video, own.video), kErrorBound);
      EXPECT_LT(RelativeError("audio", ours.audio, own.audio), kErrorBound);
    }
  }
}

TEST_F(JoinedSteps, DependOnAdaptersAndNotOnWhoHadTheColumnsBetween) {
  DenoiseState plain = StateFor({Of(1)}), style = StateFor(Adapted({Of(1)}, "style", 1)),
               again = style, turn = StateFor(Adapted({Of(1)}, "turn", 1));
  StepTogether({&plain});
  StepTogether({&style});
  EXPECT_GT(RelativeError("plain", plain.latents.video, style.latents.video), 1e-3);
  EXPECT_GT(RelativeError("plain", plain.latents.audio, style.latents.audio), 1e-3);
  DenoiseStep divided(model_->transformer, {&again}, &model_->adapter_shelf->columns());
  while (!divided.Next(Ops(test_.run), 1)) StepTogether({&turn});
  EXPECT_TRUE(again.latents.video.equal(style.latents.video));
  EXPECT_TRUE(again.latents.audio.equal(style.latents.audio));
}

TEST_F(JoinedSteps, ChangeNothingBeforeTheirEnd) {
  DenoiseState guided = StateFor({OfAllGuidance(1)}), plain = StateFor({Of(2)});
  const StreamTokens before = guided.latents;
  DenoiseStep step(model_->transformer, {&guided, &plain});
  // Three calls of two blocks, of which the perturbed one begins at its second.
  EXPECT_FALSE(step.Next(Ops(test_.run), 3 * 2 - 1 - 1));
  EXPECT_TRUE(at::equal(guided.latents.video, before.video));
  EXPECT_EQ(guided.step, 0);
  EXPECT_EQ(plain.step, 0);
  EXPECT_TRUE(step.Next(Ops(test_.run), 1));
  EXPECT_EQ(plain.step, 1);
}

TEST_F(JoinedSteps, AreOfVideosWithTheSamePlacesAndSamplersOfOneCallAlone) {
  const DenoiseState one = StateFor({Of(1)});
  DenoiseState marked = one;
  marked.keyframe_tokens = 1;
  EXPECT_FALSE(CanShareStep(one, marked));
  const auto can = [&](const GenerationSpec& spec) { return CanShareStep(one, StateFor({spec})); };
  EXPECT_TRUE(can(Of(2)));
  EXPECT_TRUE(can(OfAPicture(2, 0.5)));
  GenerationSpec other = Of(2);
  other.width = 64;
  other.height = 96;  // as many tokens
  EXPECT_FALSE(can(other));
  other = Of(2);
  other.frame_rate = 24.1;  // as many latents of sound
  EXPECT_FALSE(can(other));
  other = Of(2);
  other.max_text_tokens = 32;
  EXPECT_FALSE(can(other));
  other = OfAPicture(2, 0.5);
  other.conditions[0].frame_index = 9;  // has tokens of its own
  EXPECT_FALSE(can(other));
  DenoiseState changed = StateFor({Of(2)});
  changed.sampler = Sampler::kRes2s;
  EXPECT_FALSE(CanShareStep(one, changed));
  changed = StateFor({Of(2)});
  changed.guidance.perturbed_blocks = {0};
  EXPECT_FALSE(CanShareStep(one, changed));
}

}  // namespace
}  // namespace reel::model::ltx2
