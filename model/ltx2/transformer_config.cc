// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/transformer_config.h"

#include <vector>

#include "kernels/base/status_macros.h"
#include "model/ltx2/config_rules.h"
#include "model/weights/config_reader.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx2 {
namespace {

// The keys of one stream.
struct StreamKeys {
  const char *in_channels, *out_channels, *patch_size, *patch_size_t, *num_heads, *head_dim,
      *text_width, *seconds, *gates, *ff_bias;
};
constexpr StreamKeys kVideoKeys = {"in_channels",         "out_channels",
                                   "patch_size",          "patch_size_t",
                                   "num_attention_heads", "attention_head_dim",
                                   "cross_attention_dim", "pos_embed_max_pos",
                                   "gated_attn",          "ff_bias"};
constexpr StreamKeys kAudioKeys = {"audio_in_channels",         "audio_out_channels",
                                   "audio_patch_size",          "audio_patch_size_t",
                                   "audio_num_attention_heads", "audio_attention_head_dim",
                                   "audio_cross_attention_dim", "audio_pos_embed_max_pos",
                                   "audio_gated_attn",          "audio_ff_bias"};

void ReadStream(ConfigReader& reader, const StreamKeys& keys, StreamConfig& stream) {
  const int64_t text_width = stream.width();
  stream.channels = reader.Int(keys.in_channels, stream.channels, kWidths);
  if (reader.Int(keys.out_channels, stream.channels, kWidths) != stream.channels) {
    reader.Fail(keys.out_channels, "must be as many as go in");
  }
  for (const char* key : {keys.patch_size, keys.patch_size_t}) reader.Int(key, 1, {1, 1});
  stream.num_heads = reader.Int(keys.num_heads, stream.num_heads, kHeads);
  stream.head_dim = reader.Int(keys.head_dim, stream.head_dim, kHeads);
  if (stream.head_dim % 2 != 0) reader.Fail(keys.head_dim, "must be even");
  if (reader.Int(keys.text_width, text_width, kWidths) != stream.width()) {
    reader.Fail(keys.text_width, "must be the stream's width, heads times channels of a head");
  }
  stream.seconds = PositiveNumber(reader, keys.seconds, stream.seconds);
  stream.has_gates = reader.Bool(keys.gates, stream.has_gates);
  stream.has_ff_bias = reader.Bool(keys.ff_bias, stream.has_ff_bias);
}

void ReadPlaces(ConfigReader& reader, TransformerConfig& config) {
  const auto& scale = config.pixels_per_latent;
  const std::vector<int64_t> factors =
      reader.Ints("vae_scale_factors", {scale.begin(), scale.end()}, {1, 1024});
  if (factors.size() == 3) {
    config.pixels_per_latent = {factors[0], factors[1], factors[2]};
  } else {
    reader.Fail("vae_scale_factors", "must be three numbers");
  }
  config.base_height = PositiveNumber(reader, "base_height", config.base_height);
  config.base_width = PositiveNumber(reader, "base_width", config.base_width);
  config.spectra_per_latent =
      reader.Int("audio_scale_factor", config.spectra_per_latent, {1, 1024});
  config.sampling_rate = PositiveNumber(reader, "audio_sampling_rate", config.sampling_rate);
  config.hop_length = PositiveNumber(reader, "audio_hop_length", config.hop_length);
  config.causal_offset = reader.Int("causal_offset", config.causal_offset, {0, 1024});
  config.rope_theta = PositiveNumber(reader, "rope_theta", config.rope_theta);
  config.double_rope = reader.Bool("rope_double_precision", config.double_rope);
  config.rotation = ReadRotation(reader);
  const double times = PositiveNumber(reader, "timestep_scale_multiplier", 1000);
  config.gate_time_factor =
      PositiveNumber(reader, "cross_attn_timestep_scale_multiplier", 1000) / times;
}

void ReadFeatures(ConfigReader& reader, TransformerConfig& config) {
  config.projects_captions = reader.Bool("use_prompt_embeddings", config.projects_captions);
  config.modulates_text = reader.Bool("cross_attn_mod", config.modulates_text);
  if (reader.Bool("audio_cross_attn_mod", false) != config.modulates_text) {
    reader.Fail("audio_cross_attn_mod", "must be as cross_attn_mod");
  }
  config.text_by_sigma = reader.Bool("use_prompt_adaln_single", config.text_by_sigma);
  config.perturbs = reader.Bool("perturbed_attn", config.perturbs);
  config.marks_keyframes = reader.Bool("use_keyframes_abs_pos_embedding", config.marks_keyframes);
}

// What no release says otherwise.
void CheckFixedKeys(ConfigReader& reader) {
  reader.Only("activation_fn", "gelu-approximate");
  reader.Only("qk_norm", "rms_norm_across_heads");
  reader.Only("norm_elementwise_affine", false);
  for (const char* key : {"attention_bias", "attention_out_bias"}) {
    reader.Only(key, true);
  }
}

}  // namespace

Version TransformerConfig::version() const {
  if (projects_captions) return Version::k2_0;
  return video.has_ff_bias ? Version::k2_3 : Version::k2_5;
}

absl::StatusOr<TransformerConfig> ReadTransformerConfig(const nlohmann::json& json,
                                                        const std::string& source) {
  ConfigReader reader(json, source);
  TransformerConfig config;
  ReadStream(reader, kVideoKeys, config.video);
  ReadStream(reader, kAudioKeys, config.audio);
  ReadPlaces(reader, config);
  ReadFeatures(reader, config);
  CheckFixedKeys(reader);
  config.num_layers = reader.Int("num_layers", config.num_layers, {1, 1024});
  config.norm_eps = PositiveNumber(reader, "norm_eps", config.norm_eps);
  config.caption_channels = reader.Int("caption_channels", config.caption_channels, kWidths);
  // The streams look at each other with as many heads as they have.
  if (config.audio.num_heads != config.video.num_heads) {
    reader.Fail("audio_num_attention_heads", "must be num_attention_heads");
  }
  if (config.video.width() < 6) reader.Fail("attention_head_dim", "is too small for three axes");
  reader.FailUnread();
  REEL_RETURN_IF_ERROR(reader.status());
  return config;
}

}  // namespace reel::model::ltx2
