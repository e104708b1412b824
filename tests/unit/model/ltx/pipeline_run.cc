// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/model/ltx/pipeline_run.h"

#include <algorithm>
#include <utility>

#include "model/ltx/ltx_pipeline.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx {

std::shared_ptr<const ConditionPixels> Pictures(int frames, bool inverted, int height, int width) {
  auto pixels = std::make_shared<ConditionPixels>();
  pixels->width = width;
  pixels->height = height;
  pixels->num_frames = frames;
  const int64_t plane = int64_t{height} * width;
  for (int64_t f = 0; f < frames; ++f) {
    for (int64_t i = 0; i < plane; ++i) {
      for (int64_t c = 0; c < 3; ++c) {
        const auto value = static_cast<uint8_t>((c * plane + i) * (f + 1) % 251);
        pixels->rgb.push_back(inverted ? static_cast<uint8_t>(255 - value) : value);
      }
    }
  }
  return pixels;
}

Condition Pinned(std::shared_ptr<const ConditionPixels> pixels, int frame, double strength) {
  Condition condition;
  condition.kind = pixels->num_frames > 1 ? Condition::Kind::kVideo : Condition::Kind::kImage;
  condition.frame_index = frame;
  condition.strength = strength;
  condition.pixels = std::move(pixels);
  return condition;
}

GenerationSpec TinySpec(const std::string& kind) {
  GenerationSpec spec;
  spec.prompt = "a red fox walks through a snowy forest. cinematic, 35mm film";
  spec.negative_prompt = "worst quality, blurry";
  spec.width = kPictureWidth;
  spec.height = kPictureHeight;
  spec.num_frames = kind == "condition" ? 33 : 17;
  spec.frame_rate = 25;
  spec.num_inference_steps = kTinySteps;
  spec.guidance_scale = 3;
  spec.guidance_rescale = 0.7;
  spec.seed = 0;
  spec.denoise_strength = 1;
  spec.image_condition_noise_scale = 0.15;
  spec.decode_timestep = 0.05;
  spec.decode_noise_scale = 0.025;
  spec.max_text_tokens = 24;
  if (kind == "image") {
    spec.condition_pipeline = ConditionPipeline::kImage;
    spec.conditions = {Pinned(Pictures(1), 0, 1)};
  }
  if (kind == "condition") {
    spec.conditions = {Pinned(Pictures(1), 0, 1), Pinned(Pictures(1, true), 16, 0.8),
                       Pinned(Pictures(9), 24, 0.9)};
  }
  return spec;
}

std::unique_ptr<Transformer> LoadTransformer(const TinyFolder& folder, at::Device device) {
  const auto stored =
      WeightSet::OpenFolder(folder.path() + "/transformer", "diffusion_pytorch_model");
  const auto config = ReadJsonFile(folder.path() + "/transformer/config.json");
  auto loaded = Transformer::Load(*stored, *ReadTransformerConfig(*config, ""), at::kFloat, device);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.ok() ? std::make_unique<Transformer>(*std::move(loaded)) : nullptr;
}

std::unique_ptr<Pipeline> Load(const TinyFolder& folder, const std::string& dtype,
                               const std::vector<int>& peers) {
  LoadOptions options;
  options.dtype = dtype;
  options.peers = peers;
  return Load(folder, std::move(options));
}

std::unique_ptr<Pipeline> Load(const TinyFolder& folder, LoadOptions options) {
  options.name = "tiny";
  options.path = folder.path();
  auto pipeline = LoadLtxPipeline(options, DeviceUnderTest()->stream);
  EXPECT_TRUE(pipeline.ok()) << pipeline.status();
  return pipeline.ok() ? *std::move(pipeline) : nullptr;
}

std::unique_ptr<Generation> Begin(Pipeline& pipeline, const GenerationSpec& spec,
                                  const kernels::Execution& run) {
  auto generation = pipeline.Create(spec, run);
  EXPECT_TRUE(generation.ok()) << generation.status();
  if (!generation.ok()) return nullptr;
  for (int pieces = 0; pieces < 20; ++pieces) {
    const auto ready = pipeline.BeginNext(**generation, run);
    EXPECT_TRUE(ready.ok()) << ready.status();
    if (!ready.ok() || *ready) return *std::move(generation);
  }
  ADD_FAILURE() << "never ready";
  return nullptr;
}

at::Tensor LatentsOf(const Pipeline& pipeline, const Generation& generation) {
  const LatentsView view = *pipeline.Latents(generation);
  const at::Tensor latents =
      at::empty({view.channels, view.frames, view.height, view.width}, at::kFloat);
  std::copy(view.data.begin(), view.data.end(), latents.data_ptr<float>());
  return latents;
}

void StepAll(Pipeline& pipeline, std::vector<Generation*> generations,
             const kernels::Execution& run) {
  for (const absl::Status& status : pipeline.Step(generations, run)) {
    ASSERT_TRUE(status.ok()) << status;
  }
}

std::unique_ptr<Generation> Denoised(Pipeline& pipeline, const GenerationSpec& spec,
                                     const std::string& profile) {
  const kernels::KernelPlan plan = *DeviceUnderTest()->catalog.Plan(profile, {});
  kernels::KernelCounters counters;
  const kernels::Execution run{plan, counters, nullptr, DeviceUnderTest()->stream};
  auto generation = Begin(pipeline, spec, run);
  while (generation != nullptr && generation->step() < generation->num_steps()) {
    StepAll(pipeline, {generation.get()}, run);
    if (::testing::Test::HasFatalFailure()) return nullptr;
  }
  return generation;
}

CollectingSink DecodeAll(Pipeline& pipeline, Generation& generation, const kernels::Execution& run,
                         FrameFormat format) {
  CollectingSink sink(format);
  for (absl::StatusOr<bool> done = false; !*done;) {
    done = pipeline.DecodeNext(generation, sink, run);
    EXPECT_TRUE(done.ok()) << done.status();
    if (!done.ok()) break;
  }
  return sink;
}

void LtxPipeline::SetUp() {
  if (!DeviceUnderTest().ok()) {
    GTEST_SKIP() << "SKIPPED: this machine lacks the device: " << DeviceUnderTest().status();
  }
}

}  // namespace reel::model::ltx
