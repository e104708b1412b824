// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/read_vae_config.h"

#include <optional>

#include "kernels/base/status_macros.h"
#include "model/vae/vae_config_rules.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx {
namespace {

constexpr IntRange kChannels = {1, 65536};
constexpr IntRange kLayers = {0, 1024};

void SetSampler(ConfigReader& reader, const std::string& type, bool is_new, DownStage& stage) {
  stage.sampler = DownStage::Sampler::kStridedConv;
  if (!is_new || type == "conv") return;
  stage.sampler = DownStage::Sampler::kSpaceToDepth;
  const std::optional<FoldStrides> fold = FoldOf(type);
  if (!fold.has_value()) {
    return reader.Fail("downsample_type", "must hold conv, spatial, temporal, or spatiotemporal");
  }
  stage.stride_t = fold->t;
  stage.stride_s = fold->s;
}

void CheckDownStage(ConfigReader& reader, const DownStage& stage, bool is_new) {
  if (stage.sampler == DownStage::Sampler::kSpaceToDepth) {
    CheckFold(reader, stage);
  } else if (is_new && stage.in != stage.out) {
    reader.Fail("block_out_channels", "may only change in a stage that is folded");
  }
}

void ReadEncoder(ConfigReader& reader, VaeConfig& config) {
  const auto channels =
      AtLeast(reader, "block_out_channels",
              reader.Ints("block_out_channels", {128, 256, 512, 512}, kChannels), 2);
  auto types =
      reader.Strings("down_block_types", std::vector<std::string>(4, "LTXVideoDownBlock3D"));
  types = AtLeast(reader, "down_block_types", types, 1);
  const bool is_new = types.back() == "LTXVideo095DownBlock3D";
  const size_t stages = channels.size() - (is_new ? 1 : 0);
  types = AtLeast(reader, "down_block_types", types, stages);
  const auto layers = AtLeast(reader, "layers_per_block",
                              reader.Ints("layers_per_block", {4, 3, 3, 3, 4}, kLayers), stages);
  const auto scaling =
      AtLeast(reader, "spatio_temporal_scaling",
              reader.Bools("spatio_temporal_scaling", {true, true, true, false}), stages);
  auto samplers = reader.Strings("downsample_type", std::vector<std::string>(4, "conv"));
  if (is_new) samplers = AtLeast(reader, "downsample_type", samplers, stages);
  if (!reader.status().ok()) return;  // lists are filled up with zeros

  config.encoder_in = channels[0];
  for (size_t i = 0; i < stages; ++i) {
    DownStage stage;
    stage.in = i == 0 ? channels[0] : config.down.back().out;
    stage.out = is_new || i + 1 < stages ? channels[i + 1] : channels[i];
    stage.layers = layers[i];
    if (types[i] != (is_new ? "LTXVideo095DownBlock3D" : "LTXVideoDownBlock3D")) {
      reader.Fail("down_block_types", "must hold one kind of LTX-Video's blocks");
    }
    if (scaling[i]) SetSampler(reader, is_new ? samplers[i] : "conv", is_new, stage);
    stage.has_conv_out = !is_new && stage.in != stage.out;
    CheckDownStage(reader, stage, is_new);
    config.down.push_back(stage);
  }
  config.encoder_mid = config.down.back().out;
  config.encoder_mid_layers = layers.back();
}

void CheckUpStage(ConfigReader& reader, const UpStage& stage, bool conditioned) {
  const char* key = "decoder_block_out_channels";
  if (stage.has_conv_in && conditioned) {
    reader.Fail(key, "must stay the same but for the factors, with timestep_conditioning");
  }
  if (!stage.has_conv_in && stage.in != stage.out * (stage.upsample ? stage.factor : 1)) {
    reader.Fail(key, "must fall by upsample_factor from stage to stage");
  }
  if (stage.upsample && stage.residual && stage.out * stage.factor % 8 != 0) {
    reader.Fail(key, "must be divisible by 8 where upsample_residual is true");
  }
}

void ReadDecoder(ConfigReader& reader, VaeConfig& config) {
  const auto channels =
      AtLeast(reader, "decoder_block_out_channels",
              reader.Ints("decoder_block_out_channels", {128, 256, 512, 512}, kChannels), 1);
  const size_t stages = channels.size();
  const auto layers =
      AtLeast(reader, "decoder_layers_per_block",
              reader.Ints("decoder_layers_per_block", {4, 3, 3, 3, 4}, kLayers), stages + 1);
  const auto scaling =
      AtLeast(reader, "decoder_spatio_temporal_scaling",
              reader.Bools("decoder_spatio_temporal_scaling", {true, true, true, false}), stages);
  const auto noise =
      AtLeast(reader, "decoder_inject_noise",
              reader.Bools("decoder_inject_noise", std::vector<bool>(5, false)), stages + 1);
  const auto residual =
      AtLeast(reader, "upsample_residual",
              reader.Bools("upsample_residual", std::vector<bool>(4, false)), stages);
  const auto factor = AtLeast(reader, "upsample_factor",
                              reader.Ints("upsample_factor", {1, 1, 1, 1}, {1, 8}), stages);
  if (!reader.status().ok()) return;

  config.decoder_mid = channels.back();
  config.decoder_mid_layers = layers.back();
  config.decoder_mid_noise = noise.back();
  int64_t before = channels.back();
  for (size_t i = 0; i < stages; ++i) {
    UpStage stage;
    stage.in = before;
    stage.factor = FromLatent(factor, i);
    stage.out = FromLatent(channels, i) / stage.factor;
    stage.layers = FromLatent(layers, i + 1);
    stage.upsample = FromLatent(scaling, i);
    stage.residual = FromLatent(residual, i);
    stage.inject_noise = FromLatent(noise, i + 1);
    stage.has_conv_in = before / stage.factor != stage.out;
    if (stage.out < 1 || 8 % stage.factor != 0) {
      reader.Fail("upsample_factor", "must be 1, 2, 4, or 8 and divide the channels");
      return;
    }
    CheckUpStage(reader, stage, config.timestep_conditioning);
    config.up.push_back(stage);
    before = stage.out;
  }
  config.decoder_out = before;
}

void CheckCompression(ConfigReader& reader, VaeConfig& config) {
  int64_t down = config.patch, up = config.patch;
  for (const DownStage& stage : config.down) {
    const bool strided = stage.sampler == DownStage::Sampler::kStridedConv;
    down *= strided ? 2 : stage.stride_s;
  }
  for (const UpStage& stage : config.up) up *= stage.upsample ? 2 : 1;
  if (down != 32 || up != 32) {
    reader.Fail("spatio_temporal_scaling", "must make 32 pixels into one latent");
  }
}

}  // namespace

absl::StatusOr<VaeConfig> ReadVaeConfig(const nlohmann::json& json, const std::string& source) {
  ConfigReader reader(json, source);
  VaeConfig config;
  for (const char* key : {"in_channels", "out_channels"}) reader.Int(key, 3, {3, 3});
  reader.Int("patch_size_t", 1, {1, 1});
  config.patch = reader.Int("patch_size", config.patch, {1, 64});
  config.latent_channels = reader.Int("latent_channels", config.latent_channels, kChannels);
  config.norm_eps = reader.Number("resnet_norm_eps", config.norm_eps);
  config.scaling_factor = reader.Number("scaling_factor", config.scaling_factor);
  config.timestep_conditioning = reader.Bool("timestep_conditioning", false);
  if (config.scaling_factor == 0) reader.Fail("scaling_factor", "must not be 0");
  reader.Only("encoder_causal", true);
  reader.Only("decoder_causal", false);
  REEL_RETURN_IF_ERROR(reader.status());
  ReadEncoder(reader, config);
  REEL_RETURN_IF_ERROR(reader.status());
  ReadDecoder(reader, config);
  REEL_RETURN_IF_ERROR(reader.status());
  CheckCompression(reader, config);
  REEL_RETURN_IF_ERROR(reader.status());
  return config;
}

}  // namespace reel::model::ltx
