// SPDX-License-Identifier: Apache-2.0
// Gemma 3's keys, and those of both versions.
#include "model/text/gemma_config.h"

#include <array>
#include <cmath>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/text/gemma_config_rules.h"
#include "model/weights/config_reader.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

using nlohmann::json;

constexpr IntRange kSizes = {1, 1 << 20};

// One of the two forms in which files say it: {"rope_theta", "rope_type", "factor"}.
void ReadRotation(const json& parameters, const std::string& source, const char* theta_key,
                  GemmaConfig::Attention& attention, absl::Status& status) {
  ConfigReader reader(parameters, source);
  attention.theta = reader.Number(theta_key, attention.theta);
  const std::string type = reader.String("rope_type", "default");
  if (type == "linear") {
    attention.positions_per_step = reader.Number("factor", 1);
  } else if (type == "default") {
    attention.positions_per_step = 1;
  } else {
    reader.Fail("rope_type", "must be default or linear");
  }
  if (attention.theta <= 1) reader.Fail(theta_key, "must be above 1");
  if (attention.positions_per_step <= 0) reader.Fail("factor", "must be above 0");
  if (status.ok()) status = reader.status();
}

absl::Status ReadRotations(const json& file, const std::string& source, GemmaConfig& config) {
  absl::Status status;
  const auto object = [](const json& of, const char* key) {
    const auto found = of.find(key);
    return found != of.end() && found->is_object() ? *found : json::object();
  };
  if (file.contains("rope_parameters")) {
    const json parameters = object(file, "rope_parameters");
    ReadRotation(object(parameters, kSeesAll), source, "rope_theta", config.full, status);
    ReadRotation(object(parameters, kSeesNear), source, "rope_theta", config.local, status);
    return status;
  }
  json full = object(file, "rope_scaling");
  if (file.contains("rope_theta")) full["rope_theta"] = file["rope_theta"];
  ReadRotation(full, source, "rope_theta", config.full, status);
  json local = json::object();
  if (file.contains("rope_local_base_freq")) local["rope_theta"] = file["rope_local_base_freq"];
  ReadRotation(local, source, "rope_theta", config.local, status);
  return status;
}

absl::StatusOr<GemmaConfig> ReadGemma3Config(const json& file, const std::string& source) {
  ConfigReader reader(file, source);
  GemmaConfig config;
  config.local.num_key_heads =
      reader.Int("num_key_value_heads", config.local.num_key_heads, kCounts);
  config.local.head_dim = reader.Int("head_dim", config.local.head_dim, kHeadSizes);
  config.full.num_key_heads = config.local.num_key_heads;
  config.full.head_dim = config.local.head_dim;
  ReadGemmaSizes(reader, config);
  const double query_scalar = reader.Number("query_pre_attn_scalar", 256);
  if (query_scalar <= 0) reader.Fail("query_pre_attn_scalar", "must be above 0");
  config.score_scale = 1 / std::sqrt(query_scalar);
  const char* const pattern = file.contains("_sliding_window_pattern") ? "_sliding_window_pattern"
                                                                       : "sliding_window_pattern";
  config.sees_all = LayersThatSeeAll(reader, reader.Int("num_hidden_layers", 48, kCounts),
                                     reader.Int(pattern, 6, kCounts));
  CheckHeads(reader, config);
  if (reader.Number("attn_logit_softcapping", 0) != 0) {
    reader.Fail("attn_logit_softcapping", "must be null");
  }
  REEL_RETURN_IF_ERROR(reader.status());
  REEL_RETURN_IF_ERROR(ReadRotations(file, source, config));
  return config;
}

}  // namespace

void ReadGemmaSizes(ConfigReader& reader, GemmaConfig& config) {
  config.vocab_size = reader.Int("vocab_size", config.vocab_size, {3, 10'000'000});
  config.width = reader.Int("hidden_size", config.width, kSizes);
  config.feed_forward = reader.Int("intermediate_size", config.feed_forward, kSizes);
  config.num_heads = reader.Int("num_attention_heads", config.num_heads, kCounts);
  config.eps = reader.Number("rms_norm_eps", config.eps);
  config.window = reader.Int("sliding_window", config.window, kSizes);
  reader.Only("hidden_activation", "gelu_pytorch_tanh");
  reader.Only("attention_bias", false);
}

std::vector<bool> LayersThatSeeAll(ConfigReader& reader, int64_t num_layers, int64_t every) {
  std::vector<bool> sees_all;
  const std::vector<std::string> names = reader.Strings("layer_types", {});
  for (const std::string& name : names) {
    if (name != kSeesAll && name != kSeesNear) {
      reader.Fail("layer_types", absl::StrCat("unknown: ", name));
    }
    sees_all.push_back(name == kSeesAll);
  }
  if (names.empty()) {
    for (int64_t i = 0; i < num_layers; ++i) sees_all.push_back((i + 1) % every == 0);
  } else if (static_cast<int64_t>(names.size()) != num_layers) {
    reader.Fail("layer_types", "must have a name for each layer");
  }
  return sees_all;
}

void CheckHeads(ConfigReader& reader, const GemmaConfig& config) {
  for (const GemmaConfig::Attention& attention : {config.local, config.full}) {
    if (config.num_heads % attention.num_key_heads != 0) {
      reader.Fail("num_attention_heads", "must be a multiple of num_key_value_heads");
    }
    if (attention.head_dim % 2 != 0) reader.Fail("head_dim", "must be even");
  }
}

absl::StatusOr<GemmaConfig> ReadGemmaConfig(const json& json_of_file, const std::string& source) {
  const auto part = json_of_file.find("text_config");
  const json& file = part != json_of_file.end() && part->is_object() ? *part : json_of_file;
  ConfigReader whole(json_of_file, source), text(file, source);
  const std::string type = text.String("model_type", whole.String("model_type", "gemma3"));
  REEL_RETURN_IF_ERROR(whole.status());
  REEL_RETURN_IF_ERROR(text.status());
  if (type == "gemma3" || type == "gemma3_text") return ReadGemma3Config(file, source);
  constexpr std::array<std::string_view, 4> gemma4 = {"gemma4", "gemma4_text", "gemma4_unified",
                                                      "gemma4_unified_text"};
  for (const std::string_view known : gemma4) {
    if (type == known) return ReadGemma4Config(file, type, source);
  }
  text.Fail("model_type", "must be gemma3, gemma4 or gemma4_unified, or the text part of one");
  return text.status();
}

}  // namespace reel::model
