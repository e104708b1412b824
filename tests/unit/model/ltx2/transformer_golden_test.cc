// SPDX-License-Identifier: Apache-2.0
// Velocities of both streams, and the tables of their places, against diffusers.
#include <cstdlib>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/adapters/add_adapters.h"
#include "model/adapting/adapter_shelf.h"
#include "model/ltx2/transformer.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::HasSubstr;

constexpr LatentShape kShape = {.frames = 3, .height = 2, .width = 5};
constexpr int64_t kAudioLatents = 7, kBatch = 2;
constexpr double kFrameRate = 25;

absl::StatusOr<Transformer> LoadTransformer(const TinyComponent& tiny, at::ScalarType dtype) {
  const auto config = ReadTransformerConfig(tiny.config(), "config.json");
  if (!config.ok()) return config.status();
  return Transformer::Load(tiny.weights(), *config, dtype, at::kCPU);
}

// What a golden call is told beside latents and texts, by the names of diffusers' arguments.
class Told {
 public:
  Told(const Golden& golden, std::string name) : golden_(golden), name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  bool Has(const char* argument) const { return golden_.Has(name_ + "." + argument); }
  at::Tensor operator[](const char* argument) const {
    return Has(argument) ? golden_[name_ + "." + argument] : at::Tensor();
  }
  bool Says(const char* part) const { return name_.find(part) != std::string::npos; }

 private:
  const Golden& golden_;
  const std::string name_;
};

// Times [B] of all tokens are [B, 1].
at::Tensor PerToken(const at::Tensor& times) {
  return times.dim() == 1 ? times.unsqueeze(1) : times;
}

VelocityInputs InputsOf(const Ops& ops, const Transformer& model, const Told& told) {
  const TransformerConfig& config = model.config();
  const auto text_of = [&](Stream stream, uint64_t seed, int64_t width, const char* mask) {
    const int64_t channels = config.projects_captions ? config.caption_channels : width;
    return model.Prepare(ops, stream, Draw(seed, {kBatch, kTextTokens, channels}), told[mask]);
  };
  VelocityInputs inputs;
  inputs.video.x = Draw(21, {kBatch, kShape.tokens(), 8}).to(model.dtype());
  inputs.audio.x = Draw(22, {kBatch, kAudioLatents, 8}).to(model.dtype());
  inputs.video.text = text_of(Stream::kVideo, 23, config.video.width(), "encoder_attention_mask");
  inputs.audio.text =
      text_of(Stream::kAudio, 24, config.audio.width(), "audio_encoder_attention_mask");
  inputs.video.tables = MakeVideoTables(config, VideoPlaces(config, kShape, kFrameRate));
  inputs.audio.tables = MakeAudioTables(config, AudioPlaces(config, kAudioLatents));

  const at::Tensor sigma = told["sigma"];
  const at::Tensor audio_sigma = told.Has("audio_sigma") ? told["audio_sigma"] : sigma;
  const char* const audio_times = told.Has("audio_timestep") ? "audio_timestep" : "timestep";
  inputs.video.times = {PerToken(told["timestep"]), sigma, {}};
  inputs.audio.times = {PerToken(told[audio_times]), audio_sigma, {}};
  if (told.Says("_cross")) {
    inputs.video.times.other_sigma = audio_sigma;
    inputs.audio.times.other_sigma = sigma;
  }
  if (told.Has("video_self_attention_mask")) {
    inputs.video.self_bias = model.SelfBias(told["video_self_attention_mask"]);
  }
  inputs.video.keyframes = told["video_keyframes_mask"];
  inputs.is_isolated = told.Says("isolated");
  if (told.Says("perturbed")) inputs.perturbed_blocks = {1};
  return inputs;
}

StreamTokens VelocityOf(const Transformer& model, const Told& told,
                        PlanSource source = PlanSource::kLibtorch) {
  TestRun test(source);
  const Ops ops(test.run);
  return model.Velocity(ops, InputsOf(ops, model, told));
}

class TransformerGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(TransformerGolden, GivesTheVelocitiesOfDiffusers) {
  const TinyComponent tiny("transformer", GetParam());
  const auto fp32 = LoadTransformer(tiny, at::kFloat), bf16 = LoadTransformer(tiny, at::kBFloat16);
  ASSERT_TRUE(fp32.ok() && bf16.ok()) << fp32.status();
  const Golden golden = tiny.golden();
  Worst worst;
  int calls = 0;
  for (const char* name : {"scalar", "scalar_cross", "per_token", "per_token_cross", "masked",
                           "isolated", "self_mask", "perturbed", "keyframes"}) {
    if (!golden.Has(std::string(name) + ".video")) continue;  // not of this generation
    const Told told(golden, name);
    const StreamTokens exact = VelocityOf(*fp32, told), rounded = VelocityOf(*bf16, told);
    AddTo(worst, golden, told.name() + ".video", exact.video, rounded.video);
    AddTo(worst, golden, told.name() + ".audio", exact.audio, rounded.audio);
    ++calls;
  }
  const Version version = fp32->config().version();
  EXPECT_EQ(calls, version == Version::k2_0 ? 7 : version == Version::k2_3 ? 8 : 9);
  EXPECT_LT(worst.error, kErrorBound);
  EXPECT_LT(worst.ratio, kRatioBound);
  std::printf("transformer %s: fp32 %.1e, bf16 %.2f of diffusers' error\n", GetParam(), worst.error,
              worst.ratio);
}

// Norms, gates and activations by kernels/ instead of libtorch.
TEST_P(TransformerGolden, GivesTheSameByTheKernels) {
  const TinyComponent tiny("transformer", GetParam());
  const auto model = LoadTransformer(tiny, at::kFloat);
  ASSERT_TRUE(model.ok()) << model.status();
  const Golden golden = tiny.golden();
  for (const char* name : {"scalar", "per_token_cross", "masked"}) {
    const Told told(golden, name);
    const StreamTokens velocity = VelocityOf(*model, told, PlanSource::kKernels);
    EXPECT_LT(RelativeError(told.name(), velocity.video, golden[told.name() + ".video"]),
              kErrorBound);
    EXPECT_LT(RelativeError(told.name(), velocity.audio, golden[told.name() + ".audio"]),
              kErrorBound);
  }
}

// As clips with conditions have them: few times, and which of them each token has.
TEST_P(TransformerGolden, GivesTheSameWhereTokensPointAtTheirTimes) {
  const TinyComponent tiny("transformer", GetParam());
  const auto model = LoadTransformer(tiny, at::kFloat);
  ASSERT_TRUE(model.ok()) << model.status();
  const Golden golden = tiny.golden();
  for (const PlanSource source : {PlanSource::kLibtorch, PlanSource::kKernels}) {
    TestRun test(source);
    const Ops ops(test.run);
    for (const char* name : {"per_token", "per_token_cross"}) {
      const Told told(golden, name);
      VelocityInputs inputs = InputsOf(ops, *model, told);
      StreamTimes& times = inputs.video.times;
      // From the last token's to the first's.
      times.vector_of = at::arange(times.own.numel(), at::kInt).flip(0).view(times.own.sizes());
      times.own = times.own.flatten().flip(0).unsqueeze(1);
      const StreamTokens velocity = model->Velocity(ops, inputs);
      EXPECT_LT(RelativeError(told.name(), velocity.video, golden[told.name() + ".video"]),
                kErrorBound);
      EXPECT_LT(RelativeError(told.name(), velocity.audio, golden[told.name() + ".audio"]),
                kErrorBound);
    }
  }
}

TEST_P(TransformerGolden, TurnsChannelsByTheTablesOfDiffusers) {
  const TinyComponent tiny("transformer", GetParam());
  const TransformerConfig config = *ReadTransformerConfig(tiny.config(), "config.json");
  const Golden golden = tiny.golden();
  const StreamTables video = MakeVideoTables(config, VideoPlaces(config, kShape, kFrameRate));
  const StreamTables audio = MakeAudioTables(config, AudioPlaces(config, kAudioLatents));
  // In single precision the processor's pow decides two units in the last place of the fastest
  // frequency, 15708.
  const double bound = config.double_rope ? 2e-6 : 4e-3;
  const auto expect = [&](const std::string& name, const RopeTable& table) {
    const auto& [cos, sin] = table.dense();
    for (const auto& [which, ours] : {std::pair("cos", cos[0]), std::pair("sin", sin[0])}) {
      // Split: [1, heads, S, half], ours [1, S, heads * half].
      at::Tensor theirs = golden["rope." + name + "." + which][0];
      if (config.rotation == Rotation::kSplit) theirs = theirs.transpose(0, 1).flatten(1);
      ASSERT_EQ(ours.sizes(), theirs.sizes()) << name;
      EXPECT_LT((ours - theirs).abs().max().item<double>(), bound) << name << " " << which;
    }
  };
  expect("video", video.own);
  expect("audio", audio.own);
  expect("video_cross", video.cross);
  expect("audio_cross", audio.cross);
}

INSTANTIATE_TEST_SUITE_P(Variants, TransformerGolden,
                         ::testing::Values("2.0", "2.0-split", "2.3", "2.3-narrow", "2.5",
                                           "2.5-tables"));

// Merged into the weights, where diffusers adds the products beside each layer.
TEST(Ltx2Transformer, WithAdaptersGivesTheVelocitiesOfDiffusers) {
  // Of the velocities' standard deviation; fp32 sums of two processors are 1.2e-6 and 3.7e-6 off.
  constexpr double kAdapterBound = 5e-6;
  const std::string files =
      std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/adapters/ltx2/";
  const TinyComponent tiny("transformer", "2.3");
  const auto config = ReadTransformerConfig(tiny.config(), "config.json");
  const Golden golden = Golden::In("adapters/ltx2"), plain = tiny.golden();
  LoadOptions options;
  for (const FixedAdapter& adapter : {FixedAdapter{"style", files + "style.safetensors", 0.7},
                                      FixedAdapter{"turn", files + "turn.safetensors", -1.5}}) {
    options.adapters.push_back(adapter);
    const std::string name = options.adapters.size() == 1 ? "style" : "both";
    WeightSet stored = tiny.weights();
    const AdaptedPart part = {&stored, ""};
    const auto added = AddAdapters(options, AdapterFamily::kLtx2, {&part, 1});
    ASSERT_TRUE(added.ok()) << added.status();
    const auto model = Transformer::Load(stored, *config, at::kFloat, at::kCPU);
    ASSERT_TRUE(model.ok()) << model.status();
    const auto rounded = Transformer::Load(stored, *config, at::kBFloat16, at::kCPU);
    ASSERT_TRUE(rounded.ok()) << rounded.status();
    const StreamTokens made = VelocityOf(*model, Told(golden, "scalar"));
    const StreamTokens in_bf16 = VelocityOf(*rounded, Told(golden, "scalar"));
    Worst worst;
    AddTo(worst, golden, name + ".video", made.video, in_bf16.video);
    AddTo(worst, golden, name + ".audio", made.audio, in_bf16.audio);
    EXPECT_LT(worst.ratio, kRatioBound);
    const at::Tensor video = golden[name + ".video"], audio = golden[name + ".audio"];
    EXPECT_LT(ltx::Compare(name + ", video", made.video, video).relative, kAdapterBound);
    EXPECT_LT(ltx::Compare(name + ", audio", made.audio, audio).relative, kAdapterBound);
    EXPECT_GT(ltx::Compare("without", plain["scalar.video"], video).relative, 1e-2);
    EXPECT_GT(ltx::Compare("without", plain["scalar.audio"], audio).relative, 1e-2);
  }
}

// Beside the weights, as a request has them.
TEST(Ltx2Transformer, WithAdaptersOfARequestGivesTheVelocitiesOfDiffusers) {
  constexpr double kAdapterBound = 5e-6;  // of the velocities' standard deviation
  const c10::InferenceMode no_gradients;
  const std::string files =
      std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/adapters/ltx2/";
  const TinyComponent tiny("transformer", "2.3");
  const auto config = ReadTransformerConfig(tiny.config(), "config.json");
  const Golden golden = Golden::In("adapters/ltx2");
  const Told told(golden, "scalar");
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    AdapterRoom room(2 * kAdapterSlot);
    const auto model =
        Transformer::Load(tiny.weights(), *config, dtype, at::kCPU, {}, {.room = &room});
    ASSERT_TRUE(model.ok()) << model.status();
    const auto shelf = *AdapterShelf::Of(std::make_unique<AdapterRoom>(room), AdapterFamily::kLtx2);
    const auto taken = shelf->Take({{"style", 0.7, "", files + "style.safetensors"},
                                    {"turn", -1.5, "", files + "turn.safetensors"}});
    ASSERT_TRUE(taken.ok()) << taken.status();
    const AppliedAdapters* const job = &*taken;
    const at::Tensor scales = shelf->columns().Place({&job, 1});
    TestRun test;
    const Ops ops(test.run);
    VelocityInputs inputs = InputsOf(ops.WithAdapters(scales), *model, told);
    inputs.adapters = scales.expand({kBatch, -1, -1});
    const StreamTokens made = model->Velocity(ops, inputs);
    for (const auto& [stream, velocity] :
         {std::pair("video", made.video), std::pair("audio", made.audio)}) {
      const at::Tensor expected = golden[std::string("both.") + stream];
      if (dtype == at::kFloat) {
        EXPECT_LT(ltx::Compare(stream, velocity, expected).relative, kAdapterBound);
        continue;
      }
      const at::Tensor theirs = golden[std::string("both.") + stream + ".bf16"];
      EXPECT_LT(RelativeError(stream, velocity, expected),
                kRatioBound * RelativeError("diffusers", theirs, expected));
    }
    // Times that several tokens share, each video's own.
    inputs.video.times.own = inputs.video.times.own.slice(0, 0, kBatch);
    inputs.video.times.vector_of =
        at::arange(kBatch, at::kInt).unsqueeze(1).expand({-1, kShape.tokens()}).contiguous();
    inputs.video.times.adapters = inputs.adapters;
    EXPECT_LT(RelativeError("by time", model->Velocity(ops, inputs).video, made.video),
              dtype == at::kFloat ? kErrorBound : 1e-2);
  }
}

TEST(Ltx2Transformer, SaysWhichTensorIsMissing) {
  const TinyComponent tiny("transformer", "2.3");
  nlohmann::json file = tiny.config();
  file["use_keyframes_abs_pos_embedding"] = true;
  const auto config = ReadTransformerConfig(file, "config.json");
  const auto loaded = Transformer::Load(tiny.weights(), *config, at::kFloat, at::kCPU);
  EXPECT_EQ(loaded.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(loaded.status().message()), HasSubstr("keyframes_abs_pos_embedding"));
}

}  // namespace
}  // namespace reel::model::ltx2
