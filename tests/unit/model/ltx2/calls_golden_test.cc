// SPDX-License-Identifier: Apache-2.0
// Text to video with sound, from Gemma's hidden states to the latents behind every step, against
// diffusers' pipeline.
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/ltx2/connectors.h"
#include "model/ltx2/denoise_step.h"
#include "model/ltx2/res_2s.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

constexpr int64_t kFrames = 17;
constexpr int kSteps = 3;
constexpr uint64_t kSeed = 77;

// As golden_ltx2_calls.py has it.
struct CallCase {
  const char* name;
  double frame_rate;
  StreamGuidance guidance;
  std::vector<double> timesteps = {};
  Sampler sampler = Sampler::kEuler;
};
std::vector<CallCase> AllCalls() {
  const StreamGuidance everything = {
      .video = {.scale = 3, .perturbed_scale = 1, .isolated_scale = 3, .rescale = 0.7},
      .audio = {.scale = 7, .perturbed_scale = 1.5, .isolated_scale = 2.5, .rescale = 0.6},
      .perturbed_blocks = {1}};
  return {{"all", 25, everything},
          {"none", 24, {}},
          {"text", 30, {.video = {.scale = 4}, .audio = {.scale = AudioScale(0, 4)}}},
          {"sound_text", 50, {.video = {}, .audio = {.scale = 7}}},
          {"perturbed",
           25,
           {.video = {.perturbed_scale = 1},
            .audio = {.perturbed_scale = AudioScale(std::nullopt, 1)},
            .perturbed_blocks = {1}}},
          {"isolated",
           25,
           {.video = {.isolated_scale = 3, .rescale = 0.5},
            .audio = {.isolated_scale = 3, .rescale = AudioScale(0, 0.5)}}},
          {"given", 25, {}, {993.75, 725, 421.875}},
          {"ancestral", 24, {}, {993.75, 725, 421.875}, Sampler::kAncestralEuler},
          {"res_2s", 24, {}, {1000, 975, 725, 421.875}, Sampler::kRes2s}};
}

// The scheduler of the releases for many steps, and that of the distilled ones.
SchedulerConfig SchedulerOf(const CallCase& call) {
  SchedulerConfig config;
  if (!call.timesteps.empty()) return config;
  config.use_dynamic_shifting = true;
  config.base_shift = 0.95;
  config.max_shift = 2.05;
  config.base_image_seq_len = 1024;
  config.shift_terminal = 0.1;
  return config;
}

// Connectors and transformer of one generation, in one type.
struct Networks {
  Connectors connectors;
  Transformer transformer;

  static Networks Load(const std::string& variant, at::ScalarType dtype) {
    const TinyComponent transformer("transformer", variant);
    const TinyComponent connectors("connectors", variant == "2.5" ? "2.3" : variant);
    return {*Connectors::Load(connectors.weights(),
                              *ReadConnectorsConfig(connectors.config(), "config.json"),
                              kTextTokens, dtype, at::kCPU),
            *Transformer::Load(transformer.weights(),
                               *ReadTransformerConfig(transformer.config(), "config.json"), dtype,
                               at::kCPU)};
  }
};

// Of the rows [negative,] prompt: the golden's second text, and its first.
Texts TextsOf(const Ops& ops, const Networks& networks, bool with_negative) {
  const Golden gemma = Golden::In("gemma3");
  const at::ScalarType dtype = networks.transformer.dtype();
  const at::Tensor states = gemma[dtype == at::kFloat ? "states.fp32" : "states.bf16"];
  std::vector<at::Tensor> video, audio;
  for (const int64_t row : with_negative ? std::vector<int64_t>{1, 0} : std::vector<int64_t>{0}) {
    const int64_t count = gemma["mask"][row].sum().item<int64_t>();
    const at::Tensor counted = states[row].slice(0, kTextTokens - count).unsqueeze(0).to(dtype);
    const Texts texts = networks.connectors(ops, counted.unbind(-1), kTextTokens);
    video.push_back(texts.video);
    audio.push_back(texts.audio);
  }
  return {at::cat(video), at::cat(audio)};
}

// Noise, texts and schedule of a call, before its first step.
DenoiseState Begun(const Ops& ops, const Networks& networks, const CallCase& call) {
  const LatentSizes sizes = {
      .video = {.frames = 3, .height = 2, .width = 3},
      .video_channels = 8,
      .audio = *AudioLatents(networks.transformer.config(), kFrames, call.frame_rate),
      .audio_channels = 2,
      .mel_bins = 4};
  at::Generator generator = at::detail::createCPUGenerator(kSeed);
  DenoiseState state = BeginTextToVideo(ops, networks.transformer,
                                        TextsOf(ops, networks, call.guidance.uses_negative()),
                                        sizes, call.frame_rate, generator);
  state.guidance = call.guidance;
  state.sampler = call.sampler;
  const bool is_res_2s = call.sampler == Sampler::kRes2s;
  state.step_generator = at::detail::createCPUGenerator(is_res_2s ? kSeed : kSeed + 10'000);
  state.middle_generator = at::detail::createCPUGenerator(kSeed + 10'000);
  const SchedulerConfig scheduler = SchedulerOf(call);
  state.schedule = call.timesteps.empty() ? *SpacedSchedule(scheduler, kSteps, sizes.video.tokens())
                                          : *GivenSigmaSchedule(scheduler, call.timesteps);
  if (is_res_2s) state.schedule = WithoutStepToZero(state.schedule);
  return state;
}

// The latents of both streams behind every step, [steps, tokens, channels].
StreamTokens Rendered(const Networks& networks, const CallCase& call) {
  TestRun test;
  const Ops ops(test.run);
  DenoiseState state = Begun(ops, networks, call);
  std::vector<at::Tensor> video, audio;
  while (!state.is_done()) {
    DenoiseStep(networks.transformer, state).Finish(ops);
    video.push_back(state.latents.video[0]);
    audio.push_back(state.latents.audio[0]);
  }
  return {at::stack(video), at::stack(audio)};
}

class CallsGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(CallsGolden, GiveTheLatentsOfDiffusersBehindEveryStep) {
  const std::string variant = GetParam();
  const Networks fp32 = Networks::Load(variant, at::kFloat);
  const Networks bf16 = Networks::Load(variant, at::kBFloat16);
  const Golden golden = Golden::In("ltx2/calls/" + variant);
  Worst worst;
  int calls = 0;
  for (const CallCase& call : AllCalls()) {
    const std::string name = call.name;
    if (!golden.Has(name + ".video")) continue;  // of other generations
    const StreamTokens exact = Rendered(fp32, call), rounded = Rendered(bf16, call);
    AddTo(worst, golden, name + ".video", exact.video, rounded.video);
    AddTo(worst, golden, name + ".audio", exact.audio, rounded.audio);
    ++calls;
  }
  EXPECT_EQ(calls, variant == "2.3" ? 9 : 2);
  EXPECT_LT(worst.error, kErrorBound);
  EXPECT_LT(worst.ratio, kRatioBound);
  std::printf("calls %s: fp32 %.1e, bf16 %.2f of diffusers' error\n", GetParam(), worst.error,
              worst.ratio);
}

INSTANTIATE_TEST_SUITE_P(Variants, CallsGolden, ::testing::Values("2.0", "2.3", "2.5"));

// As many blocks as a step has in all of its calls.
int BlocksOfStep(const Ops& ops, const Networks& networks, DenoiseState state) {
  DenoiseStep step(networks.transformer, state);
  int blocks = 1;
  while (!step.Next(ops, 1)) ++blocks;
  return blocks;
}

TEST(DenoiseStep, InPartsIsTheWholeToTheBit) {
  const Networks networks = Networks::Load("2.3", at::kFloat);
  TestRun test;
  const Ops ops(test.run);
  for (const CallCase& call : AllCalls()) {
    DenoiseState whole = Begun(ops, networks, call), parts = Begun(ops, networks, call);
    DenoiseStep(networks.transformer, whole).Finish(ops);
    DenoiseStep step(networks.transformer, parts);
    while (!step.Next(ops, 3)) EXPECT_EQ(parts.step, 0) << call.name;
    EXPECT_EQ(parts.step, 1);
    EXPECT_TRUE(at::equal(parts.latents.video, whole.latents.video)) << call.name;
    EXPECT_TRUE(at::equal(parts.latents.audio, whole.latents.audio)) << call.name;
  }
}

TEST(DenoiseStep, DroppedBeforeItsEndHasChangedNothing) {
  const Networks networks = Networks::Load("2.3", at::kFloat);
  TestRun test;
  const Ops ops(test.run);
  for (const CallCase& call : AllCalls()) {
    DenoiseState state = Begun(ops, networks, call), other = Begun(ops, networks, call);
    const int blocks = BlocksOfStep(ops, networks, Begun(ops, networks, call));
    EXPECT_FALSE(DenoiseStep(networks.transformer, state).Next(ops, blocks - 1)) << call.name;
    EXPECT_EQ(state.step, 0);
    DenoiseStep(networks.transformer, state).Finish(ops);
    DenoiseStep(networks.transformer, other).Finish(ops);
    EXPECT_TRUE(at::equal(state.latents.video, other.latents.video)) << call.name;
    EXPECT_TRUE(at::equal(state.latents.audio, other.latents.audio)) << call.name;
  }
}

// Two blocks a call.
TEST(DenoiseStep, MakesNoCallThatItsGuidanceDoesNotWant) {
  const Networks newer = Networks::Load("2.3", at::kFloat);
  const Networks older = Networks::Load("2.0", at::kFloat);
  TestRun test;
  const Ops ops(test.run);
  const std::vector<CallCase> calls = AllCalls();
  const auto blocks = [&](const Networks& networks, const CallCase& call) {
    return BlocksOfStep(ops, networks, Begun(ops, networks, call));
  };
  // Its second block is the first that is perturbed.
  EXPECT_EQ(blocks(newer, calls[0]), 5) << "texts, perturbed, isolated";
  EXPECT_EQ(blocks(older, calls[0]), 4) << "a model of 2.0 is not perturbed";
  EXPECT_EQ(blocks(newer, calls[1]), 2);
  EXPECT_EQ(blocks(newer, calls.back()), 4) << "res_2s calls twice";
}

}  // namespace
}  // namespace reel::model::ltx2
