// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/model/ltx/refined_clip_fixture.h"

#include <fstream>
#include <utility>

#include "model/conditions/condition_pictures.h"
#include "model/ltx/presets.h"
#include "model/resolve.h"

namespace reel::model::ltx {
namespace {

GenerationSpec TwoPassSpec(const RefinedCase& one, int frames) {
  GenerationSpec spec;
  spec.preset = "2b-0.9.8-distilled-two-pass";
  spec.prompt = "a red fox walks through a snowy forest. cinematic, 35mm film";
  spec.negative_prompt = "worst quality, blurry";
  spec.width = spec.height = kVideoSide;
  spec.num_frames = frames;
  spec.frame_rate = 25;
  spec.seed = 3;
  spec.max_text_tokens = 24;
  spec.guidance_scale = one.guidance;
  return spec;
}

}  // namespace

void PrintTo(const RefinedCase& one, std::ostream* out) { *out << one.name; }

void LtxRefinedClip::SetUp() {
  LtxPipeline::SetUp();
  if (IsSkipped()) return;
  folder_.AddUpsampler("spatial");
  Reload();
}

void LtxRefinedClip::Reload() {
  pipeline_ = Load(folder_);
  ASSERT_NE(pipeline_, nullptr);
}

void LtxRefinedClip::SayInCard(const std::string& json) {
  std::ofstream(folder_.path() + "/reel.json") << json;
  Reload();
}

void LtxRefinedClip::DrawInSteps() const {
  std::ofstream(folder_.path() + "/scheduler/scheduler_config.json")
      << R"({"_class_name": "FlowMatchEulerDiscreteScheduler", "stochastic_sampling": true})";
}

GenerationSpec LtxRefinedClip::Spec(const RefinedCase& one, int frames,
                                    std::optional<double> strength) const {
  GenerationSpec spec = TwoPassSpec(one, frames);
  spec.denoise_strength = strength;
  Condition clip;
  clip.kind = Condition::Kind::kVideo;
  clip.use = Condition::Use::kRefine;
  clip.size_bytes = 1;
  clip.pixels = DriftingClip(frames, kClipSide, kClipSide);
  spec.conditions = {clip};
  return Resolved(spec);
}

GenerationSpec LtxRefinedClip::Whole(const RefinedCase& one, int frames) const {
  return Resolved(TwoPassSpec(one, frames));
}

GenerationSpec LtxRefinedClip::Resolved(const GenerationSpec& spec) const {
  Resolution resolution = Resolve(spec, pipeline_->card(), RequestLimits(), 0);
  for (const FieldViolation& each : resolution.violations) {
    ADD_FAILURE() << each.field << " " << each.description;
  }
  return resolution.spec;
}

std::unique_ptr<LtxModel> LtxRefinedClip::LoadModel() const {
  LoadOptions options;
  options.path = folder_.path();
  options.dtype = "fp32";
  auto model = LoadLtxModel(options, at::kCPU);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : nullptr;
}

at::Tensor LtxRefinedClip::EncodedClip(const LtxModel& model, int frames) const {
  const at::Tensor pixels =
      FramesOf(*DriftingClip(frames, kClipSide, kClipSide), 0, frames, at::kFloat);
  return model.statistics.Normalize(model.encoder.Encode(ops_, pixels).mean);
}

at::Tensor LtxRefinedClip::UpsampledClip(const LtxModel& model, const GenerationSpec& spec) const {
  return UpsampleLatents(ops_, *model.upsampler, model.statistics,
                         RecipeOf(spec).second_pass->touch, EncodedClip(model, spec.num_frames));
}

std::unique_ptr<Generation> LtxRefinedClip::Made(const GenerationSpec& spec) {
  auto generation = Begin(*pipeline_, spec, test_.run);
  Finish(*generation);
  return generation;
}

void LtxRefinedClip::Finish(Generation& generation) {
  while (generation.step() < generation.num_steps()) {
    ASSERT_NO_FATAL_FAILURE(StepAll(*pipeline_, {&generation}, test_.run));
  }
}

void LtxLongRefinedClip::SetUp() {
  LtxRefinedClip::SetUp();
  if (IsSkipped() || HasFatalFailure()) return;
  SayInCard(R"({"limits": {"max_frames": 57}})");
}

}  // namespace reel::model::ltx
