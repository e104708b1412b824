// SPDX-License-Identifier: Apache-2.0
// Configurations of LTX-2's transformer and connectors.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/connectors_config.h"
#include "model/ltx2/transformer_config.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx2 {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// What the releases say beyond the defaults of the class.
json Transformer23() {
  return {{"_class_name", "LTX2VideoTransformer3DModel"},
          {"rope_type", "split"},
          {"gated_attn", true},
          {"audio_gated_attn", true},
          {"cross_attn_mod", true},
          {"audio_cross_attn_mod", true},
          {"perturbed_attn", true},
          {"use_prompt_embeddings", false}};
}
json Connectors23() {
  return {{"video_connector_num_attention_heads", 32},
          {"audio_connector_num_attention_heads", 32},
          {"audio_connector_attention_head_dim", 64},
          {"video_connector_num_layers", 8},
          {"audio_connector_num_layers", 8},
          {"video_gated_attn", true},
          {"audio_gated_attn", true},
          {"per_modality_projections", true},
          {"proj_bias", true},
          {"rope_type", "split"}};
}
TransformerConfig TransformerOf(const json& file) {
  const auto config = ReadTransformerConfig(file, "config.json");
  EXPECT_TRUE(config.ok()) << config.status();
  return config.value_or(TransformerConfig());
}

TEST(Ltx2Config, ReadsTheReleaseOf23) {
  const TransformerConfig config = TransformerOf(Transformer23());
  EXPECT_EQ(config.version(), Version::k2_3);
  EXPECT_EQ(config.video.width(), 4096);
  EXPECT_EQ(config.audio.width(), 2048);
  EXPECT_EQ(config.num_layers, 48);
  EXPECT_EQ(config.rotation, Rotation::kSplit);
  EXPECT_EQ(config.gate_time_factor, 1);
  EXPECT_EQ(config.latents_per_second(), 25);
  EXPECT_TRUE(config.video.has_gates && config.audio.has_gates && config.modulates_text);
  EXPECT_TRUE(config.perturbs && config.text_by_sigma && config.double_rope);
  const auto connectors = ReadConnectorsConfig(Connectors23(), "config.json");
  ASSERT_TRUE(connectors.ok()) << connectors.status();
  EXPECT_EQ(connectors->video.num_layers, 8);
  EXPECT_TRUE(connectors->projects_each && connectors->has_projection_bias);
  EXPECT_TRUE(CheckConnectors(*connectors, config).ok());
}

TEST(Ltx2Config, KeysThatAreMissingAreThoseOfTheClasses) {
  const TransformerConfig config = TransformerOf(json::object());
  EXPECT_EQ(config.version(), Version::k2_0);
  EXPECT_EQ(config.rotation, Rotation::kInterleaved);
  EXPECT_EQ(config.caption_channels, 3840);
  EXPECT_FALSE(config.video.has_gates || config.modulates_text || config.perturbs);
  const auto connectors = ReadConnectorsConfig(json::object(), "config.json");
  ASSERT_TRUE(connectors.ok()) << connectors.status();
  EXPECT_EQ(connectors->video.width(), 3840);
  EXPECT_EQ(connectors->num_states, 49);
  EXPECT_TRUE(CheckConnectors(*connectors, config).ok());
}

TEST(Ltx2Config, TellsTheGenerationByTheFolder) {
  json file = Transformer23();
  file["ff_bias"] = false;
  file["use_keyframes_abs_pos_embedding"] = true;
  const TransformerConfig config = TransformerOf(file);
  EXPECT_EQ(config.version(), Version::k2_5);
  EXPECT_TRUE(config.marks_keyframes);
  EXPECT_TRUE(config.audio.has_ff_bias);
}

TEST(Ltx2Config, RefusesConnectorsOfAnotherGeneration) {
  const auto older = ReadConnectorsConfig(json::object(), "config.json");
  const absl::Status status = CheckConnectors(*older, TransformerOf(Transformer23()));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("mixes two checkpoints"));
}

// A key, its value, and the key that the refusal names.
struct Refusal {
  const char* key;
  json value;
  const char* named;
};

TEST(Ltx2Config, RefusesByNameWhatTheTransformerDoesNotCompute) {
  const Refusal refusals[] = {{"patch_size", 2, "patch_size"},
                              {"audio_patch_size_t", 2, "audio_patch_size_t"},
                              {"out_channels", 64, "out_channels"},
                              {"cross_attention_dim", 2048, "cross_attention_dim"},
                              {"audio_cross_attention_dim", 4096, "audio_cross_attention_dim"},
                              {"audio_num_attention_heads", 16, "audio_cross_attention_dim"},
                              {"attention_head_dim", 127, "attention_head_dim"},
                              {"audio_cross_attn_mod", false, "audio_cross_attn_mod"},
                              {"attention_bias", false, "attention_bias"},
                              {"activation_fn", "silu", "activation_fn"},
                              {"qk_norm", "layer_norm", "qk_norm"},
                              {"norm_elementwise_affine", true, "norm_elementwise_affine"},
                              {"rope_type", "halves", "rope_type"},
                              {"vae_scale_factors", {8, 32}, "vae_scale_factors"},
                              {"audio_hop_length", 0, "audio_hop_length"},
                              {"a_key_of_tomorrow", 1, "a_key_of_tomorrow is not known"}};
  for (const Refusal& refusal : refusals) {
    json file = Transformer23();
    file[refusal.key] = refusal.value;
    const absl::Status status = ReadTransformerConfig(file, "config.json").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << refusal.key;
    EXPECT_THAT(std::string(status.message()), HasSubstr(refusal.named));
  }
}

TEST(Ltx2Config, StreamsHaveEquallyManyHeads) {
  json file = Transformer23();
  file["audio_num_attention_heads"] = 16;
  file["audio_cross_attention_dim"] = 1024;
  EXPECT_THAT(std::string(ReadTransformerConfig(file, "config.json").status().message()),
              HasSubstr("audio_num_attention_heads must be num_attention_heads"));
}

TEST(Ltx2Config, RefusesByNameWhatTheConnectorsDoNotCompute) {
  const Refusal refusals[] = {
      {"video_connector_attention_head_dim", 64, "video_connector_attention_head_dim"},
      {"audio_connector_attention_head_dim", 63, "audio_connector_attention_head_dim"},
      {"video_connector_num_learnable_registers", nullptr,
       "video_connector_num_learnable_registers"},
      {"causal_temporal_positioning", true, "causal_temporal_positioning"},
      {"rope_theta", 0, "rope_theta"},
      {"a_key_of_tomorrow", 1, "a_key_of_tomorrow is not known"}};
  for (const Refusal& refusal : refusals) {
    json file = Connectors23();
    file[refusal.key] = refusal.value;
    const absl::Status status = ReadConnectorsConfig(file, "config.json").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << refusal.key;
    EXPECT_THAT(std::string(status.message()), HasSubstr(refusal.named));
  }
}

}  // namespace
}  // namespace reel::model::ltx2
