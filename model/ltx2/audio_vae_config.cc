// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/audio_vae_config.h"

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/weights/config_reader.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx2 {

absl::StatusOr<AudioVaeConfig> ReadAudioVaeConfig(const nlohmann::json& json,
                                                  const std::string& source) {
  constexpr IntRange kWidths = {1, 65536};
  ConfigReader reader(json, source);
  AudioVaeConfig config;
  config.base_channels = reader.Int("base_channels", config.base_channels, kWidths);
  config.multiples = reader.Ints("ch_mult", config.multiples, {1, 64});
  config.layers = reader.Int("num_res_blocks", config.layers, {1, 64});
  config.channels = reader.Int("output_channels", config.channels, {1, 16});
  reader.Int("in_channels", 2, {config.channels, config.channels});
  config.latent_channels = reader.Int("latent_channels", config.latent_channels, kWidths);
  config.bins = reader.Int("mel_bins", config.bins, kWidths);
  config.sample_rate = reader.Int("sample_rate", config.sample_rate, {1, 1'000'000});
  config.hop_length = reader.Int("mel_hop_length", config.hop_length, {1, 65536});
  if (config.multiples.size() != 3) reader.Fail("ch_mult", "must have 3 items");
  if (config.bins % AudioVaeConfig::kCompression != 0) {
    reader.Fail("mel_bins", absl::StrCat("must be a multiple of ", AudioVaeConfig::kCompression));
  }
  // The statistics of tokens, which have a channel each, are kept by that number.
  if (config.base_channels != config.TokenChannels()) {
    reader.Fail("base_channels", absl::StrCat("must be latent_channels times mel_bins over ",
                                              AudioVaeConfig::kCompression));
  }
  reader.Only("norm_type", "pixel");
  reader.Only("causality_axis", "height");
  if (!reader.Ints("attn_resolutions", {}, {0, 65536}).empty()) {
    reader.Fail("attn_resolutions", "must be null");
  }
  reader.Only("mid_block_add_attention", false);
  reader.Only("double_z", true);
  reader.Only("is_causal", true);
  // Of attention and of training, which there are none of.
  reader.Int("resolution", 256, {1, 65536});
  reader.Number("dropout", 0);
  reader.FailUnread();
  REEL_RETURN_IF_ERROR(reader.status());
  return config;
}

}  // namespace reel::model::ltx2
