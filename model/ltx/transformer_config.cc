// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/transformer_config.h"

#include "kernels/base/status_macros.h"
#include "model/weights/config_reader.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx {
namespace {

constexpr IntRange kWidths = {1, 65536};

}  // namespace

absl::StatusOr<TransformerConfig> ReadTransformerConfig(const nlohmann::json& json,
                                                        const std::string& source) {
  ConfigReader reader(json, source);
  TransformerConfig config;
  config.in_channels = reader.Int("in_channels", config.in_channels, kWidths);
  // null means as many as go in.
  config.out_channels = reader.Int("out_channels", config.in_channels, kWidths);
  config.num_heads = reader.Int("num_attention_heads", config.num_heads, {1, 1024});
  config.head_dim = reader.Int("attention_head_dim", config.head_dim, {1, 1024});
  config.cross_attention_dim =
      reader.Int("cross_attention_dim", config.cross_attention_dim, kWidths);
  config.num_layers = reader.Int("num_layers", config.num_layers, {1, 1024});
  config.caption_channels = reader.Int("caption_channels", config.caption_channels, kWidths);
  config.norm_eps = reader.Number("norm_eps", config.norm_eps);
  config.attention_bias = reader.Bool("attention_bias", config.attention_bias);
  config.attention_out_bias = reader.Bool("attention_out_bias", config.attention_out_bias);
  for (const char* key : {"patch_size", "patch_size_t"}) reader.Int(key, 1, {1, 1});
  reader.Only("activation_fn", "gelu-approximate");
  reader.Only("qk_norm", "rms_norm_across_heads");
  reader.Only("norm_elementwise_affine", false);
  if (config.cross_attention_dim != config.width()) {
    reader.Fail("cross_attention_dim", "must be num_attention_heads * attention_head_dim");
  }
  if (config.in_channels != config.out_channels) {
    reader.Fail("out_channels", "must be in_channels");
  }
  if (config.width() < 6) reader.Fail("attention_head_dim", "is too small for three axes");
  REEL_RETURN_IF_ERROR(reader.status());
  return config;
}

}  // namespace reel::model::ltx
