// SPDX-License-Identifier: Apache-2.0
// The diffusion decoder of 2.5 against diffusers; its frames in pieces, and what its configuration
// may say.
#include "model/vae/diffusion_decoder.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/frames/frame_chain.h"
#include "model/ltx2/diffusion_config.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kDecodedStride = 31;  // of golden_ltx2_diffusion.py
constexpr uint64_t kNoiseSeed = 52;

std::unique_ptr<DiffusionDecoder> LoadDecoder(const TinyComponent& component,
                                              at::ScalarType dtype) {
  const auto config = ReadDiffusionDecoderConfig(component.config(), "config.json");
  EXPECT_TRUE(config.ok()) << config.status();
  const WeightSet stored = component.weights();
  Weights weights(stored, dtype, at::kCPU);
  auto decoder = std::make_unique<DiffusionDecoder>(weights, *config);
  weights.Skip("latents_mean");
  weights.Skip("latents_std");
  EXPECT_TRUE(weights.Finish().ok()) << weights.Finish();
  return decoder;
}

// Pieces of a decode.
std::vector<at::Tensor> PiecesOf(const Ops& ops, FrameSource& source) {
  std::vector<at::Tensor> pieces;
  for (bool last = false; !last;) {
    const Frames frames = source.Next(ops);
    if (frames.none()) continue;
    pieces.push_back(frames.x);
    last = frames.last;
  }
  return pieces;
}

// Latents that come one at a time, each after a call that finds none.
class SlowLatents final : public FrameSource {
 public:
  explicit SlowLatents(at::Tensor latents) : latents_(std::move(latents)) {}

  Frames Next(const Ops&) override {
    comes_ = !comes_;
    if (!comes_) return {};
    const int64_t i = next_++;
    return {latents_.slice(2, i, i + 1), next_ == latents_.size(2)};
  }

 private:
  const at::Tensor latents_;
  int64_t next_ = 0;
  bool comes_ = true;
};

class DiffusionDecoderTest : public ::testing::Test {
 protected:
  at::Tensor NoiseFor(const DiffusionDecoder& decoder, const at::Tensor& latents) const {
    at::Generator generator = at::detail::createCPUGenerator(kNoiseSeed);
    return at::randn(decoder.NoiseSizes({latents.size(2), latents.size(3), latents.size(4)}),
                     generator, at::TensorOptions(decoder.dtype()));
  }
  at::Tensor Decoded(const DiffusionDecoder& decoder, const at::Tensor& latents) const {
    return Decoded(decoder, latents, NoiseFor(decoder, latents));
  }
  at::Tensor Decoded(const DiffusionDecoder& decoder, const at::Tensor& latents,
                     const at::Tensor& noise) const {
    const Ops ops(test_.run);
    return at::cat(
        PiecesOf(ops, *decoder.Decode(ops, LatentSource(latents, 1), PictureNoise(noise))), 2);
  }

  const TinyComponent component_{"diffusion_decoder", "2.5"};
  mutable TestRun test_;
};

TEST_F(DiffusionDecoderTest, DecodesLikeDiffusers) {
  const Golden golden = component_.golden();
  const auto fp32 = LoadDecoder(component_, at::kFloat);
  const auto bf16 = LoadDecoder(component_, at::kBFloat16);
  Worst worst;
  for (const int64_t frames : {3, 4}) {
    const at::Tensor latents = Draw(51, {1, 8, frames, 2, 3});
    const at::Tensor noise = NoiseFor(*fp32, latents);
    const auto kept = [&](const DiffusionDecoder& decoder, at::ScalarType dtype) {
      const at::Tensor made = Decoded(decoder, latents.to(dtype), noise.to(dtype));
      EXPECT_EQ(made.sizes(), at::IntArrayRef({1, 3, 8 * frames - 7, 64, 96}));
      return made.flatten().slice(0, 0, std::nullopt, kDecodedStride);
    };
    AddTo(worst, golden, "decode." + std::to_string(frames), kept(*fp32, at::kFloat),
          kept(*bf16, at::kBFloat16));
  }
  EXPECT_LT(worst.error, 5e-6);
  EXPECT_LT(worst.ratio, 2);
}

// A generator gives other numbers in 16 bits than in 32.
TEST_F(DiffusionDecoderTest, DrawsTheNoiseOfDiffusersInItsOwnType) {
  const auto bf16 = LoadDecoder(component_, at::kBFloat16);
  const at::Tensor latents = Draw(51, {1, 8, 3, 2, 3}).to(at::kBFloat16);
  const at::Tensor made = Decoded(*bf16, latents, NoiseFor(*bf16, latents));
  EXPECT_LT(RelativeError("drawn in bf16", made.flatten().slice(0, 0, std::nullopt, kDecodedStride),
                          component_.golden()["drawn.bf16"]),
            0.02);
}

TEST_F(DiffusionDecoderTest, GivesFramesInPiecesBeforeTheClipEnds) {
  const auto decoder = LoadDecoder(component_, at::kFloat);
  const at::Tensor latents = Draw(53, {1, 8, 9, 2, 3});
  const Ops ops(test_.run);
  const std::vector<at::Tensor> pieces = PiecesOf(
      ops,
      *decoder->Decode(ops, LatentSource(latents, 1), PictureNoise(NoiseFor(*decoder, latents))));
  EXPECT_GT(pieces.size(), 5u);
  for (const at::Tensor& piece : pieces) EXPECT_LE(piece.size(2), 8);
  EXPECT_EQ(at::cat(pieces, 2).size(2), 65);
}

TEST_F(DiffusionDecoderTest, DecodesLatentsThatComeLateAsThoseThatAreThere) {
  const auto decoder = LoadDecoder(component_, at::kFloat);
  const at::Tensor latents = Draw(54, {1, 8, 6, 2, 3});
  const Ops ops(test_.run);
  const at::Tensor late =
      at::cat(PiecesOf(ops, *decoder->Decode(ops, std::make_unique<SlowLatents>(latents),
                                             PictureNoise(NoiseFor(*decoder, latents)))),
              2);
  // A library adds in another order where a matrix has other sizes.
  EXPECT_LT(RelativeError("late latents", late, Decoded(*decoder, latents)), 1e-5);
}

TEST_F(DiffusionDecoderTest, GivesAnotherFilmFromOtherNoise) {
  const auto decoder = LoadDecoder(component_, at::kFloat);
  const at::Tensor latents = Draw(55, {1, 8, 3, 2, 3});
  at::Generator other = at::detail::createCPUGenerator(kNoiseSeed + 1);
  const at::Tensor noise =
      at::randn(decoder->NoiseSizes({3, 2, 3}), other, at::TensorOptions(at::kFloat));
  const at::Tensor made = Decoded(*decoder, latents, noise);
  EXPECT_TRUE(Decoded(*decoder, latents).equal(Decoded(*decoder, latents)));
  EXPECT_GT(RelativeError("other noise", made, Decoded(*decoder, latents)), 0.01);
}

// Of 5 million numbers, more than are drawn at once.
TEST(PictureNoise, OfAClipIsDrawnInPartsWithTheNumbersOfTheWhole) {
  const std::vector<int64_t> sizes = {1, 3, 27, 256, 256};
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    at::Generator generator = at::detail::createCPUGenerator(kNoiseSeed);
    PictureNoise noise = PictureNoise::OfClip(sizes, dtype, generator);
    const at::Tensor whole = at::randn(sizes, generator, at::TensorOptions(dtype));
    int calls = 1;
    while (!noise.Prepare()) ++calls;
    EXPECT_EQ(calls, 3);
    EXPECT_TRUE(noise.Take(20).equal(whole.slice(2, 0, 20)));
    EXPECT_TRUE(noise.Take(7).equal(whole.slice(2, 20)));
  }
}

TEST(PictureNoise, ByFrameIsTheSameHoweverManyAreTaken) {
  const at::Generator generator = at::detail::createCPUGenerator(kNoiseSeed);
  const auto by_frame = [&] {
    return PictureNoise::ByFrame({1, 3, 9, 32, 64}, at::kFloat, generator);
  };
  PictureNoise some = by_frame(), all = by_frame();
  EXPECT_TRUE(some.Prepare());
  const at::Tensor first = some.Take(4), rest = some.Take(5);
  EXPECT_TRUE(all.Take(9).equal(at::cat({first, rest}, 2)));
}

TEST_F(DiffusionDecoderTest, SaysWhichTensorIsMissingOrHasAnotherShape) {
  const WeightSet stored = component_.weights();
  const auto read = *ReadDiffusionDecoderConfig(component_.config(), "config.json");
  const auto said = [&stored](const DiffusionDecoderConfig& config) {
    Weights weights(stored, at::kFloat, at::kCPU);
    const DiffusionDecoder decoder(weights, config);
    return std::string(weights.Finish().message());
  };
  DiffusionDecoderConfig deeper = read, wider = read;
  ++deeper.stages[1].blocks;
  wider.time_width = 32;
  EXPECT_THAT(said(deeper),
              AllOf(HasSubstr("decoder.det_stages.1.2.norm1.weight"), HasSubstr("missing")));
  EXPECT_THAT(said(wider), AllOf(HasSubstr("decoder.t_embedder"), HasSubstr("shape")));
}

TEST(DiffusionDecoderConfig, TakesTheDefaultsOfItsClassWhichAreThoseOfTheRelease) {
  const auto config = ReadDiffusionDecoderConfig(nlohmann::json::object(), "config.json");
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_EQ(config->stages.size(), 4u);
  EXPECT_EQ(config->stages[0].channels, 2048);
  EXPECT_EQ(config->stages[3].channels_after, 256);
  EXPECT_EQ(config->blocks, 8);
  EXPECT_EQ(config->latents_behind(), 2);
}

// Windows of 7 latents a side, and of 11 frames.
TEST(DiffusionDecoderConfig, KnowsTheSmallestClipThatItsWindowsAllow) {
  const LatentShape released =
      ReadDiffusionDecoderConfig(nlohmann::json::object(), "config.json")->Least();
  EXPECT_EQ(released.frames, 3);
  EXPECT_EQ(released.height, 7);
  EXPECT_EQ(released.width, 7);
  const LatentShape tiny =
      ReadDiffusionDecoderConfig(TinyComponent("diffusion_decoder", "2.5").config(), "config.json")
          ->Least();
  EXPECT_EQ(tiny.frames, 3);
  EXPECT_EQ(tiny.height, 2);
  EXPECT_EQ(tiny.width, 2);
}

TEST(DiffusionDecoderConfig, HasTheParametersOfTheRelease) {
  const auto config = ReadDiffusionDecoderConfig(nlohmann::json::object(), "config.json");
  ASSERT_TRUE(config.ok()) << config.status();
  const reel::testing::TempFolder folder;
  const auto stored = WeightSet::OpenFolder(folder.path(), "none", /*random_weights=*/1);
  ASSERT_TRUE(stored.ok()) << stored.status();
  Weights weights(*stored, at::kBFloat16, at::kMeta);
  const DiffusionDecoder decoder(weights, *config);
  ASSERT_TRUE(weights.Finish().ok()) << weights.Finish();
  EXPECT_EQ(weights.parameters(), 417'133'616);
}

TEST(DiffusionDecoderConfig, RefusesByNameWhatItDoesNotCompute) {
  const auto refused = [](const char* key, const nlohmann::json& value) {
    nlohmann::json file = TinyComponent("diffusion_decoder", "2.5").config();
    file[key] = value;
    const absl::Status status = ReadDiffusionDecoderConfig(file, "config.json").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << key;
    EXPECT_THAT(status.message(), AllOf(HasSubstr("config.json"), HasSubstr(key)));
  };
  refused("decoder_model_output_type", "v");
  refused("decoder_num_inference_steps", 4);
  refused("decoder_head_dim", 12);
  refused("decoder_head_dim", 24);
  refused("decoder_stage_channels", {64, 32, 32, 32});
  refused("decoder_stage_channels", {64, 32, 32, 16, 16});
  refused("decoder_stage_depths", {1, 1});
  refused("decoder_stage_kernels", nlohmann::json::array());
  refused("decoder_stage_kernels", {{3, 1}, {3, 3, 3}, {3, 3, 3}, {3, 5, 5}});
  refused("decoder_upsample_strides", {{1, 2, 2}, {4, 1, 1}, {2, 2, 2}, {1, 2, 2}});
  refused("decoder_upsample_strides", {{1, 2, 2}, {2, 1, 1}, {2, 2, 2}, {1, 2, 2}});
  refused("decoder_upsample_channel_reductions", {2, 1, 1});
  refused("decoder_stage5_kernel", {11, 11});
  refused("patch_size", 8);
  refused("out_channels", 4);
  refused("temporal_compression_ratio", 4);
  refused("decoder_rope_base", 10000);
}

}  // namespace
}  // namespace reel::model::ltx2
