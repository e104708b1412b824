// SPDX-License-Identifier: Apache-2.0
// Gemma 4's keys, as transformers 5.23.0 reads them: missing ones have its class's values.
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/text/gemma_config_rules.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

using nlohmann::json;

constexpr char kPerLayer[] = "per_layer_config", kRotations[] = "rope_parameters";
constexpr char kKeyHeads[] = "num_key_value_heads", kChannels[] = "head_dim";
constexpr int64_t kLayers = 30, kPattern = 6;
constexpr double kTurned = 0.25;  // where no rotations are given

// Of one layer.
struct Heads {
  int64_t keys, channels;
  bool operator==(const Heads&) const = default;
};

GemmaConfig ClassOf(bool is_unified) {
  GemmaConfig config = {.version = 4,
                        .vocab_size = 262'144,
                        .width = 2304,
                        .feed_forward = 9216,
                        .num_heads = 8,
                        .score_scale = 1,
                        .window = is_unified ? 1024 : 512,
                        .norms_lack = 0,
                        .norms_values = true,
                        .scales_layers = true};
  config.full = {.theta = 1'000'000, .turned = kTurned};
  return config;
}

void ReadTurns(const json& parameters, const std::string& source, GemmaConfig::Attention& attention,
               absl::Status& status) {
  ConfigReader reader(parameters, source);
  attention.theta = reader.Number("rope_theta", attention.theta);
  const std::string type = reader.String("rope_type", "default");
  const double factor = reader.Number("factor", 1);
  const double turned = reader.Number("partial_rotary_factor", 1);
  if (attention.theta <= 1) reader.Fail("rope_theta", "must be above 1");
  if (factor <= 0) reader.Fail("factor", "must be above 0");
  if (turned < 0 || turned > 1) reader.Fail("partial_rotary_factor", "must be from 0 to 1");
  const bool is_proportional = type == "proportional";
  if (!is_proportional && type != "default") {
    reader.Fail("rope_type", "must be default or proportional");
  }
  // "default" has neither.
  attention.positions_per_step = is_proportional ? factor : 1;
  attention.turned = is_proportional ? turned : 1;
  reader.FailUnread();
  if (status.ok()) status = reader.status();
}

absl::Status ReadBothTurns(const json& file, const std::string& source, ConfigReader& reader,
                           GemmaConfig& config) {
  const auto found = file.find(kRotations);
  if (found == file.end() || found->is_null()) return absl::OkStatus();
  absl::Status status;
  for (const auto& [kind, attention] :
       {std::pair(kSeesAll, &config.full), std::pair(kSeesNear, &config.local)}) {
    if (!found->is_object() || !found->contains(kind) || !found->at(kind).is_object()) {
      reader.Fail(kRotations, absl::StrCat("must have an object ", kind));
      return reader.status();
    }
    ReadTurns(found->at(kind), source, *attention, status);
  }
  return status;
}

// What single layers have of their own: {"05": {"head_dim": 512, "num_key_value_heads": 1}}.
absl::Status ReadPerLayer(const json& layers, const std::string& source, ConfigReader& reader,
                          std::vector<Heads>& heads) {
  if (!layers.is_object()) reader.Fail(kPerLayer, "must be an object");
  for (const auto& [key, own] : layers.items()) {
    int64_t index = -1;
    if (!absl::SimpleAtoi(key, &index) || index < 0 ||
        index >= static_cast<int64_t>(heads.size()) || !own.is_object()) {
      reader.Fail(kPerLayer, "must have an object for the index of a layer");
    }
    REEL_RETURN_IF_ERROR(reader.status());
    ConfigReader of_layer(own, absl::StrCat(source, ": ", kPerLayer, " of layer ", index));
    Heads& at = heads[static_cast<size_t>(index)];
    at.keys = of_layer.Int(kKeyHeads, at.keys, kCounts);
    at.channels = of_layer.Int(kChannels, at.channels, kHeadSizes);
    of_layer.FailUnread();
    REEL_RETURN_IF_ERROR(of_layer.status());
  }
  return reader.status();
}

// Of each layer.
absl::StatusOr<std::vector<Heads>> ReadHeads(const json& file, const std::string& source,
                                             ConfigReader& reader, GemmaConfig& config) {
  const Heads most = {reader.Int(kKeyHeads, 4, kCounts), reader.Int(kChannels, 256, kHeadSizes)};
  Heads of_full = {most.keys, reader.Int("global_head_dim", 512, kHeadSizes)};
  const int64_t keys = reader.Int("num_global_key_value_heads", most.keys, kCounts);
  config.full.keys_are_values = reader.Bool("attention_k_eq_v", false);
  if (config.full.keys_are_values) of_full.keys = keys;
  const auto own = file.find(kPerLayer);
  const bool has_own = own != file.end() && !own->is_null();
  std::vector<Heads> heads;
  for (const bool is_full : config.sees_all) {
    heads.push_back(is_full && !has_own ? of_full : most);
  }
  if (has_own) REEL_RETURN_IF_ERROR(ReadPerLayer(*own, source, reader, heads));
  return heads;
}

// Layers of one kind share their tokens' places, so they must be alike.
void SetHeads(const std::vector<Heads>& heads, ConfigReader& reader, GemmaConfig& config) {
  std::array<std::optional<Heads>, 2> of_kinds;
  for (size_t i = 0; i < heads.size(); ++i) {
    std::optional<Heads>& kind = of_kinds[config.sees_all[i] ? 1 : 0];
    if (kind.has_value() && *kind != heads[i]) {
      reader.Fail(kPerLayer, "must be the same for all layers of one kind");
    }
    kind = heads[i];
  }
  for (const auto& [attention, kind] :
       {std::pair(&config.local, of_kinds[0]), std::pair(&config.full, of_kinds[1])}) {
    if (!kind.has_value()) continue;
    attention->num_key_heads = kind->keys;
    attention->head_dim = kind->channels;
  }
}

// What only larger or smaller models of the version have, and what decides nothing here.
void CheckOtherKeys(ConfigReader& reader, bool is_unified) {
  if (reader.Int("num_kv_shared_layers", 0, {0, 1024}) != 0) {
    reader.Fail("num_kv_shared_layers", "must be 0: layers that share keys are not read");
  }
  if (reader.Int("hidden_size_per_layer_input", is_unified ? 0 : 256, {0, 1 << 20}) != 0) {
    reader.Fail("hidden_size_per_layer_input", "must be 0: embeddings of layers are not read");
  }
  reader.Only("use_double_wide_mlp", false);
  reader.Only("enable_moe_block", false);
  if (reader.String("use_bidirectional_attention", "vision") != "vision") {
    reader.Fail("use_bidirectional_attention", "must be null or vision");
  }
  reader.Ignore({kPerLayer,
                 kRotations,
                 "architectures",
                 "attention_dropout",
                 "bos_token_id",
                 "chunk_size_feed_forward",
                 "dtype",
                 "eos_token_id",
                 "final_logit_softcapping",
                 "id2label",
                 "initializer_range",
                 "is_encoder_decoder",
                 "label2id",
                 "max_position_embeddings",
                 "model_type",
                 "moe_intermediate_size",
                 "num_experts",
                 "output_attentions",
                 "output_hidden_states",
                 "pad_token_id",
                 "problem_type",
                 "return_dict",
                 "tie_word_embeddings",
                 "top_k_experts",
                 "torch_dtype",
                 "transformers_version",
                 "use_cache",
                 "vocab_size_per_layer_input"});
}

}  // namespace

absl::StatusOr<GemmaConfig> ReadGemma4Config(const json& file, const std::string& model_type,
                                             const std::string& source) {
  const bool is_unified = absl::StrContains(model_type, "unified");
  ConfigReader reader(file, source);
  GemmaConfig config = ClassOf(is_unified);
  ReadGemmaSizes(reader, config);
  config.sees_all =
      LayersThatSeeAll(reader, reader.Int("num_hidden_layers", kLayers, kCounts), kPattern);
  if (!config.sees_all.empty()) config.sees_all.back() = true;  // whatever is said of it
  REEL_ASSIGN_OR_RETURN(const std::vector<Heads> heads, ReadHeads(file, source, reader, config));
  SetHeads(heads, reader, config);
  CheckHeads(reader, config);
  CheckOtherKeys(reader, is_unified);
  reader.FailUnread();
  REEL_RETURN_IF_ERROR(reader.status());
  REEL_RETURN_IF_ERROR(ReadBothTurns(file, source, reader, config));
  return config;
}

}  // namespace reel::model
