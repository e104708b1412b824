// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/video_vae_config.h"

#include <optional>
#include <vector>

#include "kernels/base/status_macros.h"
#include "model/vae/vae_config_rules.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx2 {
namespace {

constexpr IntRange kStageChannels = {1, 65536}, kStageLayers = {0, 1024};

FoldStrides ReadFold(ConfigReader& reader, const char* key, const std::string& type) {
  const std::optional<FoldStrides> fold = FoldOf(type);
  if (!fold.has_value()) reader.Fail(key, "must hold spatial, temporal, or spatiotemporal");
  return fold.value_or(FoldStrides());
}

void ReadEncoder(ConfigReader& reader, VaeConfig& config) {
  const auto channels =
      AtLeast(reader, "block_out_channels",
              reader.Ints("block_out_channels", {256, 512, 1024, 2048}, kStageChannels), 1);
  const size_t stages = channels.size();
  const std::string kind = "LTX2VideoDownBlock3D";
  const auto kinds = AtLeast(reader, "down_block_types",
                             reader.Strings("down_block_types", {kind, kind, kind, kind}), stages);
  const auto layers =
      AtLeast(reader, "layers_per_block",
              reader.Ints("layers_per_block", {4, 6, 6, 2, 2}, kStageLayers), stages + 1);
  const auto scaling =
      AtLeast(reader, "spatio_temporal_scaling",
              reader.Bools("spatio_temporal_scaling", {true, true, true, true}), stages);
  const auto types =
      AtLeast(reader, "downsample_type",
              reader.Strings("downsample_type",
                             {"spatial", "temporal", "spatiotemporal", "spatiotemporal"}),
              stages);
  if (!reader.status().ok()) return;
  config.encoder_in = config.latent_channels;
  for (size_t i = 0; i < stages; ++i) {
    DownStage stage;
    stage.in = i == 0 ? config.encoder_in : config.down.back().out;
    stage.out = channels[i];
    stage.layers = layers[i];
    if (kinds[i] != kind) reader.Fail("down_block_types", "must hold " + kind);
    if (scaling[i]) {
      const FoldStrides fold = ReadFold(reader, "downsample_type", types[i]);
      stage.sampler = DownStage::Sampler::kSpaceToDepth;
      stage.stride_t = fold.t;
      stage.stride_s = fold.s;
      CheckFold(reader, stage);
    } else if (stage.in != stage.out) {
      reader.Fail("block_out_channels", "may only change in a stage that is folded");
    }
    config.down.push_back(stage);
  }
  config.encoder_mid = config.down.back().out;
  config.encoder_mid_layers = layers.back();
}

void CheckUpsampling(ConfigReader& reader, const UpStage& stage) {
  const int64_t fold = stage.stride_t * stage.stride_s * stage.stride_s;
  if (stage.out < 1 || stage.in != stage.out * stage.factor) {
    reader.Fail("decoder_block_out_channels", "must fall by upsample_factor from stage to stage");
  } else if (stage.upsample && fold % stage.factor != 0) {
    reader.Fail("upsample_factor", "must divide the strides of its stage's upsample_type");
  } else if (stage.residual && stage.in % fold != 0) {
    reader.Fail("decoder_block_out_channels", "must be divisible by their stage's strides");
  }
}

// Lists are written from the pictures to the latent, but for upsample_type.
void ReadDecoder(ConfigReader& reader, VaeConfig& config) {
  const auto channels =
      AtLeast(reader, "decoder_block_out_channels",
              reader.Ints("decoder_block_out_channels", {256, 512, 1024}, kStageChannels), 1);
  const size_t stages = channels.size();
  const auto layers =
      AtLeast(reader, "decoder_layers_per_block",
              reader.Ints("decoder_layers_per_block", {5, 5, 5, 5}, kStageLayers), stages + 1);
  const auto scaling =
      AtLeast(reader, "decoder_spatio_temporal_scaling",
              reader.Bools("decoder_spatio_temporal_scaling", {true, true, true}), stages);
  const auto types = AtLeast(
      reader, "upsample_type",
      reader.Strings("upsample_type", std::vector<std::string>(3, "spatiotemporal")), stages);
  const auto residual = AtLeast(reader, "upsample_residual",
                                reader.Bools("upsample_residual", {true, true, true}), stages);
  const auto factor =
      AtLeast(reader, "upsample_factor", reader.Ints("upsample_factor", {2, 2, 2}, {1, 8}), stages);
  for (const bool noise :
       reader.Bools("decoder_inject_noise", std::vector<bool>(stages + 1, false))) {
    if (noise) reader.Fail("decoder_inject_noise", "must hold false only");
  }
  if (!reader.status().ok()) return;
  config.decoder_mid = channels.back();
  config.decoder_mid_layers = layers.back();
  int64_t before = channels.back();
  for (size_t i = 0; i < stages; ++i) {
    UpStage stage;
    stage.factor = FromLatent(factor, i);
    stage.in = before;
    stage.out = FromLatent(channels, i) / stage.factor;
    stage.layers = FromLatent(layers, i + 1);
    stage.upsample = FromLatent(scaling, i);
    stage.residual = stage.upsample && FromLatent(residual, i);
    if (stage.upsample) {
      const FoldStrides fold = ReadFold(reader, "upsample_type", types[i]);
      stage.stride_t = fold.t;
      stage.stride_s = fold.s;
    } else if (stage.factor != 1) {
      reader.Fail("upsample_factor", "must be 1 in a stage that is not upsampled");
    }
    CheckUpsampling(reader, stage);
    config.up.push_back(stage);
    before = stage.out;
  }
  config.decoder_out = before;
}

void CheckCompression(ConfigReader& reader, const VaeConfig& config) {
  FoldStrides down = {1, config.patch}, up = down;
  for (const DownStage& stage : config.down) {
    down.t *= stage.stride_t;
    down.s *= stage.stride_s;
  }
  for (const UpStage& stage : config.up) {
    up.t *= stage.upsample ? stage.stride_t : 1;
    up.s *= stage.upsample ? stage.stride_s : 1;
  }
  if (down.s != kPixelsOfALatent || down.t != kFramesOfALatent) {
    reader.Fail("downsample_type",
                "and patch_size must make 8 frames of 32 by 32 pixels into one latent");
  }
  if (up.s != kPixelsOfALatent || up.t != kFramesOfALatent) {
    reader.Fail("upsample_type",
                "and patch_size must make one latent into 8 frames of 32 by 32 pixels");
  }
}

// What neither encoder nor decoder of any release does otherwise.
void CheckTheRest(ConfigReader& reader) {
  for (const char* key : {"in_channels", "out_channels"}) reader.Int(key, 3, {3, 3});
  reader.Int("patch_size_t", 1, {1, 1});
  reader.Int("spatial_compression_ratio", kPixelsOfALatent, {kPixelsOfALatent, kPixelsOfALatent});
  reader.Int("temporal_compression_ratio", kFramesOfALatent, {kFramesOfALatent, kFramesOfALatent});
  reader.Number("resnet_norm_eps", 1e-6);  // of a norm that no release has
  reader.Only("timestep_conditioning", false);
  reader.Only("encoder_causal", true);
  if (reader.Bool("decoder_causal", true)) reader.Fail("decoder_causal", "must be false");
  reader.Only("encoder_spatial_padding_mode", "zeros");
}

}  // namespace

absl::StatusOr<VaeConfig> ReadVideoVaeConfig(const nlohmann::json& json,
                                             const std::string& source) {
  ConfigReader reader(json, source);
  VaeConfig config;
  config.spatial_compression = kPixelsOfALatent;
  config.temporal_compression = kFramesOfALatent;
  config.patch = reader.Int("patch_size", config.patch, {1, 64});
  config.latent_channels = reader.Int("latent_channels", config.latent_channels, kStageChannels);
  config.scaling_factor = reader.Number("scaling_factor", config.scaling_factor);
  if (config.scaling_factor == 0) reader.Fail("scaling_factor", "must not be 0");
  const std::string padding = reader.String("decoder_spatial_padding_mode", "reflect");
  config.decoder_reflects = padding == "reflect";
  if (!config.decoder_reflects && padding != "zeros") {
    reader.Fail("decoder_spatial_padding_mode", "must be reflect or zeros");
  }
  CheckTheRest(reader);
  ReadEncoder(reader, config);
  ReadDecoder(reader, config);
  REEL_RETURN_IF_ERROR(reader.status());
  CheckCompression(reader, config);
  reader.FailUnread();
  REEL_RETURN_IF_ERROR(reader.status());
  return config;
}

}  // namespace reel::model::ltx2
