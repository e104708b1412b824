// SPDX-License-Identifier: Apache-2.0
#include "model/text/gemma_config.h"

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/weights/config_reader.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

using nlohmann::json;

constexpr IntRange kSizes = {1, 1 << 20};
constexpr char kFull[] = "full_attention", kLocal[] = "sliding_attention";

// Which layers see everything: by name, or every so many.
std::vector<bool> LayersThatSeeAll(const json& file, ConfigReader& reader) {
  const int64_t layers = reader.Int("num_hidden_layers", 48, {1, 1024});
  std::vector<bool> sees_all;
  const std::vector<std::string> names = reader.Strings("layer_types", {});
  for (const std::string& name : names) {
    if (name != kFull && name != kLocal)
      reader.Fail("layer_types", absl::StrCat("unknown: ", name));
    sees_all.push_back(name == kFull);
  }
  if (!names.empty()) {
    if (static_cast<int64_t>(names.size()) != layers) {
      reader.Fail("layer_types", "must have a name for each layer");
    }
    return sees_all;
  }
  const char* const key = file.contains("_sliding_window_pattern") ? "_sliding_window_pattern"
                                                                   : "sliding_window_pattern";
  const int64_t every = reader.Int(key, 6, {1, 1024});
  for (int64_t i = 0; i < layers; ++i) sees_all.push_back((i + 1) % every == 0);
  return sees_all;
}

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
    ReadRotation(object(parameters, kFull), source, "rope_theta", config.full, status);
    ReadRotation(object(parameters, kLocal), source, "rope_theta", config.local, status);
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

}  // namespace

absl::StatusOr<GemmaConfig> ReadGemmaConfig(const json& json_of_file, const std::string& source) {
  const auto part = json_of_file.find("text_config");
  const json& file = part != json_of_file.end() && part->is_object() ? *part : json_of_file;
  ConfigReader reader(file, source);
  GemmaConfig config;
  config.vocab_size = reader.Int("vocab_size", config.vocab_size, {3, 10'000'000});
  config.width = reader.Int("hidden_size", config.width, kSizes);
  config.feed_forward = reader.Int("intermediate_size", config.feed_forward, kSizes);
  config.num_heads = reader.Int("num_attention_heads", config.num_heads, {1, 1024});
  config.num_key_heads = reader.Int("num_key_value_heads", config.num_key_heads, {1, 1024});
  config.head_dim = reader.Int("head_dim", config.head_dim, {2, 4096});
  config.eps = reader.Number("rms_norm_eps", config.eps);
  config.query_scalar = reader.Number("query_pre_attn_scalar", config.query_scalar);
  config.window = reader.Int("sliding_window", config.window, kSizes);
  config.sees_all = LayersThatSeeAll(file, reader);
  if (config.num_heads % config.num_key_heads != 0) {
    reader.Fail("num_attention_heads", "must be a multiple of num_key_value_heads");
  }
  if (config.head_dim % 2 != 0) reader.Fail("head_dim", "must be even");
  if (config.query_scalar <= 0) reader.Fail("query_pre_attn_scalar", "must be above 0");
  reader.Only("hidden_activation", "gelu_pytorch_tanh");
  reader.Only("attention_bias", false);
  if (reader.Number("attn_logit_softcapping", 0) != 0) {
    reader.Fail("attn_logit_softcapping", "must be null");
  }
  REEL_RETURN_IF_ERROR(reader.status());
  REEL_RETURN_IF_ERROR(ReadRotations(file, source, config));
  return config;
}

}  // namespace reel::model
