// SPDX-License-Identifier: Apache-2.0
// The lossy profiles with layers in 8 bits, fp8 and int8, against "auto" on the same latents. They
// stay within their gates, and never run unasked.
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "model/bridge/row_ops.h"
#include "model/ltx2/ltx2_pipeline.h"
#include "model/ltx2/transformer.h"
#include "model/resolve.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/device_test.h"
#include "tests/unit/model/ltx2/film.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

// The gates, as LTX-Video's: of the velocity, and the cosine between both.
constexpr double kMostError = 0.03, kLeastCosine = 0.999;
constexpr LatentShape kShape = {.frames = 3, .height = 2, .width = 5};
constexpr int64_t kAudioLatents = 7, kBatch = 2, kBlocks = 4;
constexpr int64_t kHeadDim = 16;  // of pictures, so that int8_rows takes their tokens
constexpr uint64_t kSeed = 3;

struct Profile {
  const char* name;
  RowForm form;
  const char* variant;  // of linear, on a CPU and on a GPU
  const char* on_gpu;
};
constexpr Profile kProfiles[] = {
    {"fp8", RowForm::kE4m3, "linear=e4m3_rows", "linear=e4m3_rows"},
    {"int8", RowForm::kInt8, "linear=int8_rows", "linear=sm90_int8"},
};

struct HeadDims {
  int64_t video = kHeadDim, audio = 8;
  int64_t heads = 0;  // 0: the tiny model's
};
// Of random weights.
absl::StatusOr<Transformer> LoadTransformer(const char* version, const HeadDims& dims,
                                            at::ScalarType dtype, at::Device device,
                                            AdapterRoom* room = nullptr) {
  nlohmann::json file = TinyComponent("transformer", version).config();
  file["attention_head_dim"] = dims.video;
  file["num_layers"] = kBlocks;
  if (dims.heads > 0) {
    file["num_attention_heads"] = file["audio_num_attention_heads"] = dims.heads;
  }
  const int64_t heads = file["num_attention_heads"];
  file["audio_attention_head_dim"] = dims.audio;
  file["audio_cross_attention_dim"] = heads * dims.audio;
  file["cross_attention_dim"] = heads * dims.video;
  const auto config = ReadTransformerConfig(file, "config.json");
  if (!config.ok()) return config.status();
  return Transformer::Load(*WeightSet::OpenFolder("none", "none", kSeed), *config, dtype, device,
                           {}, {.room = room});
}

class ByProfile : public DeviceTest {
 protected:
  void SetUpFor(const char* profile) {
    const auto plan = DeviceUnderTest()->catalog.Plan(profile, {});
    if (!plan.ok()) GTEST_SKIP() << "SKIPPED: " << plan.status();
    lossy_ = *plan;
    auto_ = *DeviceUnderTest()->catalog.Plan("auto", {});
  }

  // Counted apart from earlier ones.
  kernels::Execution Run(const kernels::KernelPlan& plan) {
    counters_ = {};
    return {plan, counters_, nullptr, DeviceUnderTest()->stream};
  }
  int64_t CallsIn8Bits(const Profile& profile) const {
    std::map<std::string, int64_t> calls;
    for (const auto& use : counters_.Uses()) calls[use.op + "=" + use.variant] += use.calls;
    return calls[device_.is_cpu() ? profile.variant : profile.on_gpu];
  }

  StreamTokens Velocity(const Transformer& model, const kernels::KernelPlan& plan,
                        bool is_perturbed = false, const LatentShape& shape = kShape,
                        int64_t audio_latents = kAudioLatents) {
    const kernels::Execution run = Run(plan);
    const Ops ops(run);
    const TransformerConfig& config = model.config();
    const auto text_of = [&](Stream stream, uint64_t seed, int64_t width) {
      const int64_t channels = config.projects_captions ? config.caption_channels : width;
      return model.Prepare(ops, stream,
                           Draw(seed, {kBatch, kTextTokens, channels}).to(device_, model.dtype()));
    };
    const at::Tensor sigma = at::tensor({725.0f, 31.0f}).to(device_);
    const StreamTimes times = {sigma.unsqueeze(1), sigma,
                               config.modulates_text ? sigma : at::Tensor()};
    const StreamTables video = MakeVideoTables(config, VideoPlaces(config, shape, 24));
    const StreamTables audio = MakeAudioTables(config, AudioPlaces(config, audio_latents));
    VelocityInputs inputs = {
        .video = {.x = Draw(21, {kBatch, shape.tokens(), 8}).to(device_, model.dtype()),
                  .times = times,
                  .text = text_of(Stream::kVideo, 23, config.video.width()),
                  .tables = video.To(device_)},
        .audio = {.x = Draw(22, {kBatch, audio_latents, 8}).to(device_, model.dtype()),
                  .times = times,
                  .text = text_of(Stream::kAudio, 24, config.audio.width()),
                  .tables = audio.To(device_)}};
    if (is_perturbed) inputs.perturbed_blocks = {1};
    inputs.adapters = adapters_;
    return model.Velocity(ops, inputs);
  }

  const c10::InferenceMode no_gradients_;
  at::Tensor adapters_;  // as in VelocityInputs
  kernels::KernelPlan auto_, lossy_;
  kernels::KernelCounters counters_;
};

class Ltx2LayersIn8Bits : public ByProfile,
                          public ::testing::WithParamInterface<std::tuple<const char*, Profile>> {
 protected:
  void SetUp() override {
    ByProfile::SetUp();
    if (!IsSkipped()) SetUpFor(profile().name);
  }
  const Profile& profile() const { return std::get<1>(GetParam()); }

  absl::StatusOr<Transformer> Load(int64_t audio_head_dim = 8, AdapterRoom* room = nullptr) const {
    return LoadTransformer(std::get<0>(GetParam()), {.audio = audio_head_dim}, at::kFloat, device_,
                           room);
  }
};

INSTANTIATE_TEST_SUITE_P(Profiles, Ltx2LayersIn8Bits,
                         ::testing::Combine(::testing::Values("2.0", "2.3", "2.5"),
                                            ::testing::ValuesIn(kProfiles)),
                         [](const auto& made) {
                           std::string version = std::get<0>(made.param);
                           version[1] = '_';
                           return "v" + version + "_" + std::get<1>(made.param).name;
                         });

void ExpectWithinTheGates(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor a = actual.to(at::kDouble).flatten(), e = expected.to(at::kDouble).flatten();
  const double error = ((a - e).norm() / e.norm()).item<double>();
  const double cosine = (a.dot(e) / (a.norm() * e.norm())).item<double>();
  std::printf("relative error %.4f, cosine %.6f\n", error, cosine);
  EXPECT_LE(error, kMostError);
  EXPECT_GE(cosine, kLeastCosine);
  EXPECT_GT(error, 0) << "nothing was rounded to 8 bits";
}

TEST_P(Ltx2LayersIn8Bits, KeepTheVelocityOfBothStreamsWithinTheGates) {
  auto model = Load();
  ASSERT_TRUE(model.ok()) << model.status();
  for (const bool is_perturbed : {false, true}) {
    const StreamTokens expected = Velocity(*model, auto_, is_perturbed);
    ASSERT_TRUE(model->MakeLayersIn(profile().form).ok());
    const StreamTokens actual = Velocity(*model, lossy_, is_perturbed);
    // In each block between the first and the last: six layers of three attentions, the sound's
    // keys and values, and the feed-forward. Its first layer may go from codes to codes.
    const bool is_gelu = profile().form == RowForm::kE4m3 && model->config().video.has_ff_bias;
    EXPECT_EQ(CallsIn8Bits(profile()), (kBlocks - 2) * (is_gelu ? 8 : 9));
    ExpectWithinTheGates(actual.video, expected.video);
    ExpectWithinTheGates(actual.audio, expected.audio);
    // What 8-bit layers there are changes nothing for the others.
    const StreamTokens again = Velocity(*model, auto_, is_perturbed);
    EXPECT_EQ(CallsIn8Bits(profile()), 0);
    EXPECT_TRUE(again.video.equal(expected.video) && again.audio.equal(expected.audio));
  }
}

TEST_P(Ltx2LayersIn8Bits, AreOfTheWeightsAloneWhereAdaptersAreBesideThem) {
  AdapterRoom room(kAdapterSlot);
  auto model = Load(8, &room);
  ASSERT_TRUE(model.ok()) << model.status();
  for (size_t i = 0; i < room.layers().size(); ++i) {
    const AdapterRoom::Layer& layer = room.layers()[i];
    room.Use(layer);
    layer.down.copy_(Draw(100 + i, layer.down.sizes()) / 8);
    layer.up.copy_(Draw(5000 + i, layer.up.sizes()) / 16);
  }
  const StreamTokens plain = Velocity(*model, auto_);
  adapters_ = at::full({kBatch, 1, kAdapterSlot}, 0.5).to(device_);
  const StreamTokens expected = Velocity(*model, auto_);
  EXPECT_GT(RelativeError("without", plain.video, expected.video), 0.1);
  ASSERT_TRUE(model->MakeLayersIn(profile().form).ok());
  const StreamTokens actual = Velocity(*model, lossy_);
  const bool is_gelu = profile().form == RowForm::kE4m3 && model->config().video.has_ff_bias;
  EXPECT_EQ(CallsIn8Bits(profile()), (kBlocks - 2) * (is_gelu ? 8 : 9));
  ExpectWithinTheGates(actual.video, expected.video);
  ExpectWithinTheGates(actual.audio, expected.audio);
}

TEST_P(Ltx2LayersIn8Bits, HaveTheGatesOfHeadsThatFillGroups) {
  auto model = LoadTransformer(std::get<0>(GetParam()), {.heads = 32}, at::kFloat, device_);
  ASSERT_TRUE(model.ok()) << model.status();
  const StreamTokens expected = Velocity(*model, auto_);
  ASSERT_TRUE(model->MakeLayersIn(profile().form).ok());
  const StreamTokens actual = Velocity(*model, lossy_);
  const TransformerConfig& config = model->config();
  const bool is_gelu = profile().form == RowForm::kE4m3 && config.video.has_ff_bias;
  EXPECT_EQ(CallsIn8Bits(profile()),
            (kBlocks - 2) * ((is_gelu ? 8 : 9) + (config.video.has_gates ? 3 : 0)));
  ExpectWithinTheGates(actual.video, expected.video);
  ExpectWithinTheGates(actual.audio, expected.audio);
}

// The attentions between the streams are as wide as the sound.
TEST_P(Ltx2LayersIn8Bits, LeaveOutThoseWhoseSizesDoNotSuit) {
  auto model = Load(/*audio_head_dim=*/6);
  ASSERT_TRUE(model.ok()) << model.status();
  const StreamTokens expected = Velocity(*model, auto_);
  ASSERT_TRUE(model->MakeLayersIn(profile().form).ok());
  ExpectWithinTheGates(Velocity(*model, lossy_).video, expected.video);
  // Keys and values side by side are 48 wide.
  const bool is_fp8 = profile().form == RowForm::kE4m3;
  const bool is_gelu = is_fp8 && model->config().video.has_ff_bias;
  EXPECT_EQ(CallsIn8Bits(profile()), (kBlocks - 2) * (4 + (is_fp8 ? 1 : 0) + (is_gelu ? 1 : 2)));
}

TEST_P(Ltx2LayersIn8Bits, AreRefusedBeforeTheyAreMade) {
  const auto model = Load();
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_FALSE(model->HasLayersIn(profile().form));
  const absl::Status status = TorchGuard([&] {
    Velocity(*model, lossy_);
    return absl::OkStatus();
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
}

class Ltx2AttentionIn8Bits : public ByProfile {};

// Not the sound's, which is as long here.
TEST_F(Ltx2AttentionIn8Bits, IsThePicturesOwnBetweenTheFirstAndTheLastBlock) {
  for (const auto& [profile, variant, layers] :
       std::vector<std::tuple<const char*, const char*, std::optional<RowForm>>>{
           {"fp8_attention", "sm90_e4m3", {}}, {"int8_all", "sm90_int8", RowForm::kInt8}}) {
    SCOPED_TRACE(profile);
    SetUpFor(profile);
    if (IsSkipped()) return;
    auto model = LoadTransformer("2.3", {.video = 128, .audio = 64}, at::kBFloat16, device_);
    ASSERT_TRUE(model.ok()) << model.status();
    if (layers.has_value()) {
      ASSERT_TRUE(model->MakeLayersIn(*layers).ok());
    }
    const LatentShape shape = {.frames = 3, .height = 12, .width = 16};
    const StreamTokens expected = Velocity(*model, auto_, false, shape, /*audio_latents=*/520);
    const StreamTokens actual = Velocity(*model, lossy_, false, shape, /*audio_latents=*/520);
    int64_t calls = 0;
    for (const auto& use : counters_.Uses()) {
      if (use.op == "attention" && use.variant == variant) calls += use.calls;
    }
    EXPECT_EQ(calls, kBlocks - 2);
    ExpectWithinTheGates(actual.video, expected.video);
    ExpectWithinTheGates(actual.audio, expected.audio);
  }
}

// Requests of a tiny 2.3 with wider heads of pictures and random weights.
class Ltx2FilmIn8Bits : public ByProfile, public ::testing::WithParamInterface<Profile> {
 protected:
  void SetUp() override {
    ByProfile::SetUp();
    if (!IsSkipped()) SetUpFor(GetParam().name);
    if (IsSkipped()) return;
    folder_.Set("transformer", "num_layers", kBlocks);
    folder_.Set("transformer", "attention_head_dim", kHeadDim);
    folder_.Set("transformer", "cross_attention_dim", 4 * kHeadDim);
    folder_.Set("connectors", "video_connector_attention_head_dim", kHeadDim);
    folder_.Set("connectors", "video_hidden_dim", 4 * kHeadDim);
    LoadOptions options;
    options.name = "tiny";
    options.path = folder_.path();
    options.dtype = "fp32";
    options.random_weights = kSeed;
    auto pipeline = LoadLtx2Pipeline(options, DeviceUnderTest()->stream);
    ASSERT_TRUE(pipeline.ok()) << pipeline.status();
    pipeline_ = *std::move(pipeline);
  }

  static GenerationSpec Spec(int steps) {
    GenerationSpec spec = TinySpec();
    spec.num_inference_steps = steps;
    return spec;
  }
  at::Tensor Latents(const Generation& generation) {
    const Film film = TokensOf(*pipeline_, generation);
    return at::cat({film.video.flatten(), film.audio.flatten()});
  }

  const TinyFolder folder_{"2.3"};
  std::unique_ptr<Pipeline> pipeline_;
};

INSTANTIATE_TEST_SUITE_P(Profiles, Ltx2FilmIn8Bits, ::testing::ValuesIn(kProfiles),
                         [](const auto& made) { return made.param.name; });

TEST_P(Ltx2FilmIn8Bits, IsWhatARequestOfTheProfileGets) {
  EXPECT_THAT(pipeline_->card().lossy_profiles, ::testing::ElementsAre("int8", "fp8"));
  const auto latents = [&](const kernels::KernelPlan& plan) {
    const kernels::Execution run = Run(plan);
    const auto generation = ltx::Begin(*pipeline_, Spec(2), run);
    for (int i = 0; i < 2; ++i) ltx::StepAll(*pipeline_, {generation.get()}, run);
    return Latents(*generation);
  };
  const at::Tensor expected = latents(auto_);
  const at::Tensor actual = latents(lossy_);
  EXPECT_GT(CallsIn8Bits(GetParam()), 0);
  EXPECT_FALSE(actual.equal(expected));
  EXPECT_TRUE(latents(lossy_).equal(actual));
  EXPECT_TRUE(latents(auto_).equal(expected));
}

// What a film becomes is decided in its first steps.
TEST_P(Ltx2FilmIn8Bits, OfInt8RunsFromTheSecondTenthOfTheStepsOn) {
  kernels::KernelCounters others;
  const kernels::Execution plain{auto_, others, nullptr, DeviceUnderTest()->stream};
  const kernels::Execution lossy = Run(lossy_);
  const auto expected = ltx::Begin(*pipeline_, Spec(10), plain);
  const auto whole = ltx::Begin(*pipeline_, Spec(10), lossy);
  const auto pieces = ltx::Begin(*pipeline_, Spec(10), lossy);
  ASSERT_TRUE(expected != nullptr && whole != nullptr && pieces != nullptr);
  const bool leads = GetParam().form == RowForm::kInt8;
  for (int step = 0; step < 2; ++step) {
    ltx::StepAll(*pipeline_, {expected.get()}, plain);
    ltx::StepAll(*pipeline_, {whole.get()}, lossy);
    EXPECT_EQ(CallsIn8Bits(GetParam()) == 0, leads && step == 0) << step;
    EXPECT_EQ(Latents(*whole).equal(Latents(*expected)), leads && step == 0) << step;
    Generation* const batch[] = {pieces.get()};
    const auto stopping = pipeline_->BeginStep(batch, 2, lossy);
    ASSERT_NE(stopping, nullptr);
    std::optional<std::vector<absl::Status>> made;
    while (!(made = stopping->Next(lossy)).has_value()) {
    }
    EXPECT_TRUE(made->at(0).ok()) << made->at(0);
    EXPECT_TRUE(Latents(*whole).equal(Latents(*pieces))) << step;
  }
}

// Of a tiny 2.3, pictures 48 wide and sound 32, with so many blocks.
std::vector<std::string> ProfilesOf(int64_t blocks) {
  const TinyFolder folder("2.3");
  folder.Set("transformer", "num_layers", blocks);
  LoadOptions options;
  options.path = folder.path();
  options.random_weights = kSeed;
  const auto card = CheckLtx2Model(options, {});
  EXPECT_TRUE(card.ok()) << card.status();
  if (!card.ok()) return {};
  GenerationSpec spec;
  spec.prompt = "a fox";
  for (const char* profile : {"int8", "fp8", "int8_all", "cache"}) {
    spec.kernels.profile = profile;
    const Resolution resolved = Resolve(spec, *card, {}, 1);
    EXPECT_EQ(resolved.ok(), ::testing::Matches(::testing::Contains(profile))(card->lossy_profiles))
        << profile;
    for (const FieldViolation& violation : resolved.violations) {
      EXPECT_EQ(violation.field, "kernels.profile");
    }
  }
  return card->lossy_profiles;
}

TEST(Ltx2Profiles, AreThoseThatTheModelsSizesTake) {
  EXPECT_THAT(ProfilesOf(3), ::testing::ElementsAre("fp8"));
  EXPECT_THAT(ProfilesOf(2), ::testing::IsEmpty());
  const TinyComponent tiny("transformer", "2.3");
  auto model = Transformer::Load(tiny.weights(), *ReadTransformerConfig(tiny.config(), ""),
                                 at::kFloat, at::kCPU);
  ASSERT_TRUE(model.ok()) << model.status();
  const absl::Status refused = model->MakeLayersIn(RowForm::kE4m3);
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("width is 48, its blocks 2"));
}

}  // namespace
}  // namespace reel::model::ltx2
