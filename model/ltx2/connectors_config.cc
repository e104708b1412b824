// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/connectors_config.h"

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/ltx2/config_rules.h"
#include "model/weights/config_reader.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx2 {
namespace {

ConnectorConfig ReadConnector(ConfigReader& reader, const nlohmann::json& json,
                              const std::string& stream) {
  ConnectorConfig config;
  const auto integer = [&](const char* name, int64_t fallback, IntRange range) {
    return reader.Int((stream + "_connector_" + name).c_str(), fallback, range);
  };
  config.num_heads = integer("num_attention_heads", config.num_heads, kHeads);
  config.head_dim = integer("attention_head_dim", config.head_dim, kHeads);
  config.num_layers = integer("num_layers", config.num_layers, {1, 1024});
  config.num_registers = integer("num_learnable_registers", config.num_registers, kWidths);
  config.has_gates = reader.Bool((stream + "_gated_attn").c_str(), config.has_gates);
  const std::string registers = stream + "_connector_num_learnable_registers";
  // Null would be a connector that leaves padding where it is.
  if (json.contains(registers) && json[registers].is_null()) {
    reader.Fail(registers, "must be a number");
  }
  if (config.head_dim % 2 != 0) {
    reader.Fail(stream + "_connector_attention_head_dim", "must be even");
  }
  return config;
}

// The projection's outputs are what the connectors work on.
void CheckWidths(ConfigReader& reader, const ConnectorsConfig& config, int64_t video,
                 int64_t audio) {
  if (config.video.width() != video) {
    reader.Fail("video_connector_attention_head_dim",
                absl::StrCat("times the number of heads must be ", video));
  }
  if (config.audio.width() != audio) {
    reader.Fail("audio_connector_attention_head_dim",
                absl::StrCat("times the number of heads must be ", audio));
  }
}

}  // namespace

absl::StatusOr<ConnectorsConfig> ReadConnectorsConfig(const nlohmann::json& json,
                                                      const std::string& source) {
  ConfigReader reader(json, source);
  ConnectorsConfig config;
  config.video = ReadConnector(reader, json, "video");
  config.audio = ReadConnector(reader, json, "audio");
  config.caption_channels = reader.Int("caption_channels", config.caption_channels, kWidths);
  config.num_states = reader.Int("text_proj_in_factor", config.num_states, {1, 1024});
  config.rope_base = PositiveNumber(reader, "connector_rope_base_seq_len", config.rope_base);
  config.rope_theta = PositiveNumber(reader, "rope_theta", config.rope_theta);
  config.double_rope = reader.Bool("rope_double_precision", config.double_rope);
  config.rotation = ReadRotation(reader);
  config.projects_each = reader.Bool("per_modality_projections", config.projects_each);
  config.has_projection_bias = reader.Bool("proj_bias", config.has_projection_bias);
  const int64_t video = reader.Int("video_hidden_dim", 4096, kWidths);
  const int64_t audio = reader.Int("audio_hidden_dim", 2048, kWidths);
  if (config.projects_each) {
    CheckWidths(reader, config, video, audio);
  } else {
    CheckWidths(reader, config, config.caption_channels, config.caption_channels);
  }
  reader.Only("causal_temporal_positioning", false);
  reader.FailUnread();
  REEL_RETURN_IF_ERROR(reader.status());
  return config;
}

absl::Status CheckConnectors(const ConnectorsConfig& connectors,
                             const TransformerConfig& transformer) {
  const bool projects = transformer.projects_captions;
  const int64_t video = projects ? transformer.caption_channels : transformer.video.width();
  const int64_t audio = projects ? transformer.caption_channels : transformer.audio.width();
  if (connectors.video.width() == video && connectors.audio.width() == audio) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the connectors make text of ", connectors.video.width(), " and ",
                   connectors.audio.width(), " channels, the transformer takes ", video, " and ",
                   audio, "; the folder mixes two checkpoints"));
}

}  // namespace reel::model::ltx2
