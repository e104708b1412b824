// SPDX-License-Identifier: Apache-2.0
// The video autoencoders of 2.0 and 2.3, against diffusers; and the decode in pieces against the
// whole one.
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/video_vae_config.h"
#include "model/vae/group_decode.h"
#include "model/vae/vae_encoder.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kHeight = 64, kWidth = 96, kStride = 7;

// A model's encoder and decoder.
struct Autoencoder {
  Autoencoder(const TinyComponent& component, at::ScalarType dtype) {
    const auto config = ReadVideoVaeConfig(component.config(), "config.json");
    EXPECT_TRUE(config.ok()) << config.status();
    const WeightSet stored = component.weights();
    Weights weights(stored, dtype, at::kCPU);
    encoder = std::make_unique<VaeEncoder>(weights, *config);
    decoder = std::make_unique<VaeDecoder>(weights, *config);
    weights.Skip("latents_mean");
    weights.Skip("latents_std");
    EXPECT_TRUE(weights.Finish().ok()) << weights.Finish();
  }

  std::unique_ptr<VaeEncoder> encoder;
  std::unique_ptr<VaeDecoder> decoder;
};

at::Tensor Clip(int64_t frames) {
  const at::Tensor base = at::arange(3 * kHeight * kWidth).view({3, kHeight, kWidth});
  std::vector<at::Tensor> pictures;
  for (int64_t i = 1; i <= frames; ++i) {
    pictures.push_back((base * i).remainder(251).to(at::kFloat) / 255);
  }
  return at::stack(pictures, 1).unsqueeze(0) * 2 - 1;
}

class VideoVae : public ::testing::TestWithParam<std::string> {
 protected:
  VideoVae() : component_("vae", GetParam()), golden_(component_.golden()) {}

  at::Tensor Encode(const Autoencoder& vae, const at::Tensor& pictures) const {
    return vae.encoder->Encode(Ops(test_.run), pictures).mean;
  }
  at::Tensor Decode(const Autoencoder& vae, const at::Tensor& latents,
                    const DecodePieces& by) const {
    at::Generator unused = at::detail::createCPUGenerator(0);
    const Ops ops(test_.run);
    const FrameSourcePtr source = vae.decoder->Decode(ops, latents, {by, 0, unused});
    std::vector<at::Tensor> pieces;
    for (bool last = false; !last;) {
      const Frames frames = source->Next(ops);
      pieces.push_back(frames.x);
      EXPECT_LE(frames.x.size(2), 8 * by.late);
      last = frames.last;
    }
    return at::cat(pieces, 2);
  }

  const TinyComponent component_;
  const Golden golden_;
  mutable TestRun test_;
};

TEST_P(VideoVae, EncodesAndDecodesLikeDiffusers) {
  const Autoencoder fp32(component_, at::kFloat), bf16(component_, at::kBFloat16);
  Worst worst;
  for (const int64_t frames : {1, 9}) {
    const at::Tensor pictures = Clip(frames);
    AddTo(worst, golden_, "encode." + std::to_string(frames), Encode(fp32, pictures),
          Encode(bf16, pictures.to(at::kBFloat16)));
  }
  for (const int64_t frames : {1, 3}) {
    const at::Tensor latents = Draw(31, {1, 8, frames, 2, 3});
    const auto kept = [&](const Autoencoder& vae, const at::Tensor& of) {
      const at::Tensor made = Decode(vae, of, {1, 1});
      EXPECT_EQ(made.sizes(), at::IntArrayRef({1, 3, 8 * frames - 7, kHeight, kWidth}));
      return made.flatten().slice(0, 0, std::nullopt, kStride);
    };
    AddTo(worst, golden_, "decode." + std::to_string(frames), kept(fp32, latents),
          kept(bf16, latents.to(at::kBFloat16)));
  }
  EXPECT_LT(worst.error, 1e-5);
  EXPECT_LT(worst.ratio, 2);
}

TEST_P(VideoVae, DecodesTheSameInPiecesOfAnySize) {
  const Autoencoder vae(component_, at::kFloat);
  for (const int64_t clip : {1, 3, 7}) {
    const at::Tensor latents = Draw(32, {1, 8, clip, 2, 3});
    const at::Tensor whole = Decode(vae, latents, {clip, clip});
    EXPECT_EQ(whole.size(2), 8 * clip - 7);
    for (const DecodePieces by : {DecodePieces{1, 1}, {2, 2}, {clip, 1}, {clip, 2}, {3, 2}}) {
      EXPECT_TRUE(Decode(vae, latents, by).equal(whole))
          << clip << " latents by " << by.early << ", " << by.late;
    }
  }
}

TEST_P(VideoVae, DecodesOnAGroupAsOnOneDevice) {
  const Autoencoder vae(component_, at::kFloat);
  const Ops ops(test_.run);
  for (const int ranks : {2, 3}) {
    RankCrew crew(std::vector<at::Device>(static_cast<size_t>(ranks), at::kCPU));
    const std::vector<const VaeDecoder*> decoders(static_cast<size_t>(ranks), vae.decoder.get());
    for (const int64_t rows : {2, 3, 6}) {
      at::Generator unused = at::detail::createCPUGenerator(0);
      const at::Tensor latents = Draw(33, {1, 8, 3, rows, 2});
      const FrameSourcePtr source =
          DecodeOnGroup(crew, decoders, ops, latents, {{3, 3}, 0, unused});
      std::vector<at::Tensor> pieces;
      for (bool last = false; !last;) {
        const Frames frames = source->Next(ops);
        pieces.push_back(frames.x);
        last = frames.last;
      }
      EXPECT_LT(RelativeError(std::to_string(rows) + " rows on " + std::to_string(ranks),
                              at::cat(pieces, 2), Decode(vae, latents, {3, 3})),
                1e-5);  // a library adds in another order where pictures have other sizes
    }
  }
}

TEST_P(VideoVae, SaysWhichTensorIsMissingOrHasAnotherShape) {
  const WeightSet stored = component_.weights();
  const VaeConfig read = *ReadVideoVaeConfig(component_.config(), "config.json");
  const auto decoded = [&stored](const VaeConfig& config) {
    Weights weights(stored, at::kFloat, at::kCPU);
    const VaeDecoder decoder(weights, config);
    return std::string(weights.Finish().message());
  };
  VaeConfig deeper = read, narrower = read;
  ++deeper.up[1].layers;
  narrower.up[0].stride_t = 1;
  EXPECT_THAT(decoded(deeper), AllOf(HasSubstr("decoder.up_blocks.1.resnets.1.conv1.conv.weight"),
                                     HasSubstr("missing")));
  EXPECT_THAT(decoded(narrower),
              AllOf(HasSubstr("decoder.up_blocks.0.upsamplers.0.conv"), HasSubstr("shape")));
}

INSTANTIATE_TEST_SUITE_P(Generations, VideoVae, ::testing::Values("2.0", "2.3"));

TEST(VideoVaeConfig, TakesTheDefaultsOfItsClass) {
  const auto config = ReadVideoVaeConfig({{"decoder_causal", false}}, "config.json");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->latent_channels, 128);
  EXPECT_EQ(config->down.size(), 4u);
  EXPECT_EQ(config->decoder_mid, 1024);
  EXPECT_EQ(config->decoder_out, 128);
  EXPECT_EQ(LeastLatentSide(*config), 2);
}

TEST(VideoVaeConfig, ReadsTheListsOfTheDecoderFromTheLatentOn) {
  // As 2.3 is released.
  const nlohmann::json file = {
      {"block_out_channels", {256, 512, 1024, 1024}},
      {"decoder_block_out_channels", {256, 512, 512, 1024}},
      {"decoder_layers_per_block", {4, 6, 4, 2, 2}},
      {"decoder_spatio_temporal_scaling", {true, true, true, true}},
      {"decoder_inject_noise", std::vector<bool>(5, false)},
      {"decoder_causal", false},
      {"upsample_type", {"spatiotemporal", "spatiotemporal", "temporal", "spatial"}},
      {"upsample_residual", std::vector<bool>(4, false)},
      {"upsample_factor", {2, 2, 1, 2}},
      {"decoder_spatial_padding_mode", "zeros"}};
  const auto config = ReadVideoVaeConfig(file, "config.json");
  ASSERT_TRUE(config.ok()) << config.status();
  std::vector<std::vector<int64_t>> stages;
  for (const UpStage& up : config->up) {
    stages.push_back({up.in, up.out, up.layers, up.stride_t, up.stride_s});
  }
  EXPECT_EQ(
      stages,
      (std::vector<std::vector<int64_t>>{
          {1024, 512, 2, 2, 2}, {512, 512, 4, 2, 2}, {512, 256, 6, 2, 1}, {256, 128, 4, 1, 2}}));
  EXPECT_EQ(config->decoder_mid_layers, 2);
  EXPECT_EQ(LeastLatentSide(*config), 1);
}

TEST(VideoVaeConfig, RefusesByNameWhatItDoesNotCompute) {
  const auto refused = [](const char* key, const nlohmann::json& value) {
    nlohmann::json file = TinyComponent("vae", "2.3").config();
    file[key] = value;
    const absl::Status status = ReadVideoVaeConfig(file, "config.json").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << key;
    EXPECT_THAT(status.message(), AllOf(HasSubstr("config.json"), HasSubstr(key)));
  };
  refused("timestep_conditioning", true);
  refused("decoder_inject_noise", {false, true, false, false, false});
  refused("encoder_causal", false);
  refused("decoder_causal", true);
  refused("encoder_spatial_padding_mode", "reflect");
  refused("decoder_spatial_padding_mode", "circular");
  refused("down_block_types", {"A", "B", "C", "D"});
  refused("downsample_type", {"conv", "temporal", "spatiotemporal", "spatiotemporal"});
  refused("downsample_type", {"spatial", "temporal", "temporal", "spatiotemporal"});
  refused("upsample_type", {"spatial", "spatial", "temporal", "spatial"});
  refused("upsample_type", {"spatial"});
  refused("upsample_factor", {2, 2, 1});
  refused("upsample_factor", {2, 2, 3, 2});
  refused("decoder_block_out_channels", {8, 16, 24, 32});
  refused("block_out_channels", nlohmann::json::array());
  refused("block_out_channels", {8, 16, 30, 32});
  refused("layers_per_block", {1, 1});
  refused("patch_size", 8);
  refused("scaling_factor", 0);
  refused("temporal_compression_ratio", 4);
  refused("spatial_tiling", true);
}

}  // namespace
}  // namespace reel::model::ltx2
