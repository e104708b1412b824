// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/diffusion_config.h"

#include <utility>
#include <vector>

#include "kernels/base/status_macros.h"
#include "model/ltx2/video_vae_config.h"
#include "model/weights/config_reader.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx2 {
namespace {

constexpr IntRange kChannelCounts = {1, 65536}, kBlockCounts = {0, 1024}, kWindowSides = {1, 63},
                   kStrides = {1, 8};
constexpr int64_t kHeadMultiple = 8;  // channels of a head turn by three axes, in pairs

// Three numbers: frames, rows and columns.
std::array<int64_t, 3> Triple(ConfigReader& reader, const char* key,
                              const std::vector<int64_t>& list) {
  if (list.size() == 3) return {list[0], list[1], list[2]};
  reader.Fail(key, "must hold three numbers: frames, rows and columns");
  return {1, 1, 1};
}

void ReadStages(ConfigReader& reader, DiffusionDecoderConfig& config) {
  const auto channels =
      reader.Ints("decoder_stage_channels", {2048, 1024, 512, 512, 256}, kChannelCounts);
  const auto blocks = reader.Ints("decoder_stage_depths", {4, 6, 4, 2, 8}, kBlockCounts);
  const auto windows = reader.IntLists("decoder_stage_kernels",
                                       {{3, 7, 7}, {3, 7, 7}, {3, 5, 5}, {3, 5, 5}}, kWindowSides);
  const auto strides = reader.IntLists("decoder_upsample_strides",
                                       {{1, 2, 2}, {2, 1, 1}, {2, 2, 2}, {2, 2, 2}}, kStrides);
  const auto reductions =
      reader.Ints("decoder_upsample_channel_reductions", {2, 2, 1, 2}, kChannelCounts);
  const size_t stages = windows.size();
  const auto hold = [&](const char* key, size_t has, size_t wants) {
    if (has != wants) {
      reader.Fail(key, "must have " + std::to_string(wants) +
                           " items, as decoder_stage_kernels has " + std::to_string(stages));
    }
  };
  if (stages == 0) reader.Fail("decoder_stage_kernels", "must have at least 1 item");
  hold("decoder_stage_channels", channels.size(), stages + 1);
  hold("decoder_stage_depths", blocks.size(), stages + 1);
  hold("decoder_upsample_strides", strides.size(), stages);
  hold("decoder_upsample_channel_reductions", reductions.size(), stages);
  if (!reader.status().ok()) return;
  for (size_t i = 0; i < stages; ++i) {
    if (channels[i + 1] != channels[i] / reductions[i]) {
      reader.Fail("decoder_stage_channels",
                  "must fall by decoder_upsample_channel_reductions from stage to stage");
    }
    config.stages.push_back({.channels = channels[i],
                             .blocks = blocks[i],
                             .window = Triple(reader, "decoder_stage_kernels", windows[i]),
                             .strides = Triple(reader, "decoder_upsample_strides", strides[i]),
                             .channels_after = channels[i + 1]});
  }
  config.channels = channels.back();
  config.blocks = blocks.back();
  for (const int64_t width : channels) {
    if (width % config.head_width != 0) {
      reader.Fail("decoder_stage_channels", "must be multiples of decoder_head_dim");
    }
  }
}

void CheckSizesOfALatent(ConfigReader& reader, const DiffusionDecoderConfig& config) {
  std::array<int64_t, 3> all = {1, config.patch, config.patch};
  for (const WindowStage& stage : config.stages) {
    for (size_t i = 0; i < 3; ++i) all[i] *= stage.strides[i];
    if (stage.strides[0] > 2) {
      reader.Fail("decoder_upsample_strides", "may double frames, not more");
    }
  }
  if (all[0] != kFramesOfALatent || all[1] != kPixelsOfALatent || all[2] != kPixelsOfALatent) {
    reader.Fail("decoder_upsample_strides",
                "and patch_size must make one latent into 8 frames of 32 by 32 pixels");
  }
}

}  // namespace

absl::StatusOr<DiffusionDecoderConfig> ReadDiffusionDecoderConfig(const nlohmann::json& json,
                                                                  const std::string& source) {
  ConfigReader reader(json, source);
  DiffusionDecoderConfig config;
  reader.Int("out_channels", 3, {3, 3});
  config.latent_channels = reader.Int("latent_channels", config.latent_channels, kChannelCounts);
  config.patch = reader.Int("patch_size", config.patch, {1, 64});
  config.scaling_factor = reader.Number("scaling_factor", config.scaling_factor);
  config.head_width = reader.Int("decoder_head_dim", config.head_width, {kHeadMultiple, 1024});
  if (config.head_width % kHeadMultiple != 0) {
    reader.Fail("decoder_head_dim", "must be a multiple of 8");
  }
  config.time_width = reader.Int("decoder_t_emb_dim", config.time_width, kChannelCounts);
  config.time_multiplier =
      reader.Number("decoder_timestep_scale_multiplier", config.time_multiplier);
  config.window = Triple(reader, "decoder_stage5_kernel",
                         reader.Ints("decoder_stage5_kernel", {11, 11, 11}, kWindowSides));
  // As in every release. Decoders with several steps, or that predict a velocity, are refused.
  reader.Only("decoder_model_output_type", "x0");
  reader.Int("decoder_num_inference_steps", 1, {1, 1});
  reader.Int("spatial_compression_ratio", kPixelsOfALatent, {kPixelsOfALatent, kPixelsOfALatent});
  reader.Int("temporal_compression_ratio", kFramesOfALatent, {kFramesOfALatent, kFramesOfALatent});
  ReadStages(reader, config);
  REEL_RETURN_IF_ERROR(reader.status());
  CheckSizesOfALatent(reader, config);
  reader.FailUnread();
  REEL_RETURN_IF_ERROR(reader.status());
  return config;
}

}  // namespace reel::model::ltx2
