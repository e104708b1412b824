// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/model/ltx2/refined_clip_fixture.h"

#include <cmath>
#include <fstream>
#include <utility>

#include "model/ltx2/conditioning.h"
#include "model/resolve.h"

namespace reel::model::ltx2 {

std::shared_ptr<const ConditionSound> ToneOf(SoundFormat format, double seconds, double hertz) {
  auto sound = std::make_shared<ConditionSound>();
  sound->format = format;
  const auto samples = static_cast<int64_t>(std::ceil(seconds * format.sample_rate));
  for (int64_t i = 0; i < samples; ++i) {
    const double second = static_cast<double>(i) / format.sample_rate;
    const auto sample = static_cast<float>(0.3 * std::sin(6.2831853 * hertz * second));
    sound->interleaved.insert(sound->interleaved.end(), 2, sample);
  }
  return sound;
}

void PrintTo(const RefinedCase& one, std::ostream* out) { *out << one.name; }

void Ltx2RefinedClip::SetUp() {
  if (!DeviceUnderTest().ok()) GTEST_SKIP() << "SKIPPED: this machine lacks the device";
  folder_ = std::make_unique<TinyFolder>(GetParam().variant, Scheduler::kStatic);
  folder_->AddUpsampler("x2");
  pipeline_ = LoadTiny(*folder_);
  ASSERT_NE(pipeline_, nullptr);
}

GenerationSpec Ltx2RefinedClip::Spec(int frames, std::optional<double> strength) const {
  GenerationSpec spec = TinySpec();
  spec.model = "tiny";
  spec.preset = GetParam().preset;
  spec.width = kFilmWidth;
  spec.height = kFilmHeight;
  spec.num_frames = frames;
  spec.num_inference_steps = 0;
  spec.negative_prompt.reset();
  spec.denoise_strength = strength;
  Condition clip;
  clip.kind = Condition::Kind::kVideo;
  clip.use = Condition::Use::kRefine;
  clip.size_bytes = 1;
  clip.pixels = Drifting(frames);
  spec.conditions = {clip};
  const Resolution resolved = Resolve(spec, pipeline_->card(), {}, 1);
  for (const FieldViolation& each : resolved.violations) {
    ADD_FAILURE() << each.field << " " << each.description;
  }
  return resolved.spec;
}

GenerationSpec Ltx2RefinedClip::WithSound(GenerationSpec spec, double seconds) const {
  const double whole = spec.num_frames / spec.frame_rate;
  Condition& clip = spec.conditions[0];
  clip.sound = ToneOf(pipeline_->card().own_sound, seconds > 0 ? seconds : whole, 220);
  clip.carried_sound = ToneOf(pipeline_->card().sound, seconds > 0 ? seconds : whole, 220);
  return spec;
}

std::unique_ptr<Ltx2Model> Ltx2RefinedClip::LoadModel() const {
  LoadOptions options;
  options.path = folder_->path();
  options.dtype = "fp32";
  auto model = LoadLtx2Model(options, at::kCPU);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : nullptr;
}

at::Tensor Ltx2RefinedClip::UpsampledClip(int frames) const {
  const auto model = LoadModel();
  if (model == nullptr) return {};
  const Ops ops(test_.run);
  PictureCondition clip;
  clip.pixels = FramesOf(*Drifting(frames), 0, frames, at::kFloat);
  const at::Tensor own = EncodeCondition(ops, *model, clip, Mode::kCondition).latents;
  return PackLatents(UpsampleLatents(ops, *model->upsampler, model->statistics, {}, own))[0];
}

std::vector<std::string> Ltx2RefinedClip::NoticesOf(const GenerationSpec& spec) {
  std::vector<std::string> codes;
  const auto generation = ltx::Begin(*pipeline_, spec, test_.run);
  if (generation == nullptr) return codes;
  for (const Notice& notice : generation->text_facts().notices) codes.push_back(notice.code);
  return codes;
}

void Ltx2LongRefinedClip::SetUp() {
  Ltx2RefinedClip::SetUp();
  std::ofstream(folder_->path() + "/reel.json") << R"({"limits": {"max_frames": 57}})";
  pipeline_ = LoadTiny(*folder_);
  ASSERT_NE(pipeline_, nullptr);
}

}  // namespace reel::model::ltx2
