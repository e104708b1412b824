// SPDX-License-Identifier: Apache-2.0
// Gemma 4's configuration: what is followed, and what is refused by name.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/gemma_encoder.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model {
namespace {

using Json = nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

Json FileOf(const std::string& name) {
  return *ReadJsonFile(std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/" + name);
}
Json Gemma4() { return FileOf("gemma4/shared/config.json"); }
Json Released() { return FileOf("ltx2/layouts/text_encoder-2.5.json"); }

std::string Refused(const Json& file) {
  const auto config = ReadGemmaConfig(file, "config.json");
  EXPECT_EQ(config.status().code(), absl::StatusCode::kFailedPrecondition);
  return std::string(config.status().message());
}
std::string RefusedWith(const std::string& key, const Json& value) {
  Json file = Gemma4();
  file["text_config"][key] = value;
  return Refused(file);
}

TEST(Gemma4Config, IsThatOfTheRelease) {
  const GemmaConfig config = *ReadGemmaConfig(Released()["config"], "config.json");
  EXPECT_EQ(config.version, 4);
  EXPECT_EQ(config.num_layers(), 48);
  EXPECT_EQ(config.width, 3840);
  EXPECT_EQ(config.vocab_size, 262'144);
  EXPECT_EQ(config.score_scale, 1);
  EXPECT_EQ(config.window, 1024);
  EXPECT_EQ(config.local.head_dim, 256);
  EXPECT_EQ(config.local.num_key_heads, 8);
  EXPECT_EQ(config.local.turned, 1);
  EXPECT_FALSE(config.local.keys_are_values);
  EXPECT_EQ(config.full.head_dim, 512);
  EXPECT_EQ(config.full.num_key_heads, 1);
  EXPECT_EQ(config.full.turned, 0.25);
  EXPECT_EQ(config.full.theta, 1e6);
  EXPECT_EQ(config.full.positions_per_step, 1);
  EXPECT_TRUE(config.full.keys_are_values);
  for (int64_t i = 0; i < 48; ++i) EXPECT_EQ(config.sees_all[static_cast<size_t>(i)], i % 6 == 5);
}

// A file of all 48 layers without values, made of one of each kind.
class HollowGemma4 {
 public:
  HollowGemma4() {
    const Json released = Released();
    for (const auto& [name, shape] : released["shapes"].items()) {
      const size_t at = name.find("layers.");
      if (at == std::string::npos) {
        Add(name, shape);
        continue;
      }
      const size_t index = at + std::string("layers.").size();
      for (int i = 0; i < 48; ++i) {
        if ((i % 6 == 5) != (name[index] == '5')) continue;
        std::string other = name;
        Add(other.replace(index, 1, std::to_string(i)), shape);
      }
    }
    Add("model.embed_vision.patch_dense.weight", {6912, 3840});
    Add("model.embed_audio.embedding_projection.weight", {3840, 640});
    Add("lm_head.weight", {262'144, 3840});
  }
  size_t tensors() const { return header_.size() - 3; }
  WeightSet Open() const {
    const std::string bytes = SafetensorsBytes(header_.dump(), "");
    std::filesystem::resize_file(scratch_.Write("model.safetensors", bytes), bytes.size() + size_);
    return *WeightSet::OpenFolder(scratch_.path(), "model");
  }

 private:
  void Add(const std::string& name, const Json& shape) {
    size_t bytes = 2;
    for (const Json& side : shape) bytes *= side.get<size_t>();
    header_[name] = {{"dtype", "BF16"}, {"shape", shape}, {"data_offsets", {size_, size_ + bytes}}};
    size_ += bytes;
  }

  const reel::testing::TempFolder scratch_;
  Json header_;
  size_t size_ = 0;
};

// Those for pictures and sounds beside it are nobody's here.
TEST(Gemma4Layout, EveryTensorOfTheTextPartIsTakenAndNoneIsMissing) {
  const Json released = Released();
  const HollowGemma4 file;
  EXPECT_EQ(file.tensors(), released["tensors"].get<size_t>());
  const auto encoder = GemmaEncoder::Load(
      file.Open(), *ReadGemmaConfig(released["config"], "config.json"), at::kBFloat16, at::kMeta);
  ASSERT_TRUE(encoder.ok()) << encoder.status();
  EXPECT_EQ(encoder->parameters(), 11'907'350'320);
  EXPECT_EQ(encoder->parameters(), released["parameters"].get<int64_t>());
  EXPECT_EQ(encoder->bytes(), 2 * encoder->parameters());
  // A full layer has larger heads, but one of keys, which are the values.
  EXPECT_GT(encoder->layer_bytes().largest, encoder->layer_bytes().each.front());
}

TEST(Gemma4Config, TakesTheClassesValuesForKeysThatAreMissing) {
  const Json file = {{"model_type", "gemma4_unified"}, {"text_config", Json::object()}};
  const GemmaConfig config = *ReadGemmaConfig(file, "config.json");
  EXPECT_EQ(config.width, 2304);
  EXPECT_EQ(config.num_layers(), 30);
  EXPECT_EQ(config.num_heads, 8);
  EXPECT_EQ(config.window, 1024);
  EXPECT_EQ(config.full.head_dim, 512);
  EXPECT_EQ(config.full.num_key_heads, 4);
  EXPECT_EQ(config.local.num_key_heads, 4);
  EXPECT_FALSE(config.full.keys_are_values);
  EXPECT_EQ(config.full.turned, 0.25);
  EXPECT_EQ(config.local.theta, 1e4);
  const Json dense = {{"model_type", "gemma4"}, {"hidden_size_per_layer_input", 0}};
  EXPECT_EQ(ReadGemmaConfig(dense, "config.json")->window, 512);
}

// transformers 5.23 saves what layers have of their own in place of the keys of the release.
TEST(Gemma4Config, ReadsBothFormsOfWhatLayersHaveOfTheirOwn) {
  Json file = Gemma4();
  const GemmaConfig by_keys = *ReadGemmaConfig(file, "config.json");
  Json& text = file["text_config"];
  for (const char* key : {"global_head_dim", "num_global_key_value_heads"}) text.erase(key);
  const Json own = {{"head_dim", 16}, {"num_key_value_heads", 1}};
  text["per_layer_config"] = {{"5", own}, {"06", own}};
  const GemmaConfig by_layers = *ReadGemmaConfig(file, "config.json");
  EXPECT_EQ(by_layers.full.head_dim, by_keys.full.head_dim);
  EXPECT_EQ(by_layers.full.num_key_heads, by_keys.full.num_key_heads);
  EXPECT_EQ(by_layers.local.head_dim, by_keys.local.head_dim);
  EXPECT_EQ(by_layers.local.num_key_heads, by_keys.local.num_key_heads);
  // Where some are given, the keys of all full layers count no more.
  text["per_layer_config"] = Json::object();
  text["global_head_dim"] = 16;
  EXPECT_EQ(ReadGemmaConfig(file, "config.json")->full.head_dim, by_keys.local.head_dim);
}

TEST(Gemma4Config, TheKeyHeadsOfFullLayersCountWhereKeysAreValues) {
  Json file = Gemma4();
  EXPECT_EQ(ReadGemmaConfig(file, "config.json")->full.num_key_heads, 1);
  file["text_config"]["attention_k_eq_v"] = false;
  EXPECT_EQ(ReadGemmaConfig(file, "config.json")->full.num_key_heads, 2);
}

TEST(Gemma4Config, TheLastLayerSeesEverything) {
  EXPECT_EQ(ReadGemmaConfig(Gemma4(), "config.json")->sees_all,
            (std::vector<bool>{0, 0, 0, 0, 0, 1, 1}));
}

TEST(Gemma4Config, RefusesByNameWhatIsNotComputed) {
  EXPECT_THAT(RefusedWith("num_kv_shared_layers", 2), HasSubstr("num_kv_shared_layers must be 0"));
  EXPECT_THAT(RefusedWith("use_double_wide_mlp", true), HasSubstr("use_double_wide_mlp"));
  EXPECT_THAT(RefusedWith("use_bidirectional_attention", "all"),
              HasSubstr("use_bidirectional_attention must be null or vision"));
  EXPECT_THAT(RefusedWith("hidden_size_per_layer_input", 256),
              HasSubstr("hidden_size_per_layer_input must be 0"));
  EXPECT_THAT(RefusedWith("enable_moe_block", true), HasSubstr("enable_moe_block"));
  EXPECT_THAT(RefusedWith("hidden_activation", "silu"), HasSubstr("hidden_activation"));
  EXPECT_THAT(RefusedWith("attention_bias", true), HasSubstr("attention_bias"));
  EXPECT_THAT(RefusedWith("query_pre_attn_scalar", 256),
              HasSubstr("query_pre_attn_scalar is not known"));
  EXPECT_THAT(RefusedWith("layer_types", {"full_attention"}), HasSubstr("layer_types"));
  EXPECT_THAT(RefusedWith("num_key_value_heads", 3), HasSubstr("num_attention_heads"));
  EXPECT_THAT(RefusedWith("global_head_dim", 15), HasSubstr("head_dim must be even"));
  // The smaller models of the version have embeddings of layers unless they say otherwise.
  EXPECT_THAT(Refused({{"model_type", "gemma4"}, {"text_config", {{"model_type", "gemma4_text"}}}}),
              HasSubstr("hidden_size_per_layer_input"));
  EXPECT_THAT(Refused(Json::object({{"model_type", "gemma3n"}})),
              HasSubstr("model_type must be gemma3, gemma4"));
}

TEST(Gemma4Config, RefusesLayersOfOneKindThatDiffer) {
  EXPECT_THAT(RefusedWith("per_layer_config", {{"5", {{"head_dim", 16}}}}),
              HasSubstr("per_layer_config must be the same for all layers of one kind"));
  for (const char* index : {"7", "-1", "five"}) {
    EXPECT_THAT(RefusedWith("per_layer_config", {{index, {{"head_dim", 16}}}}),
                HasSubstr("per_layer_config must have an object for the index of a layer"));
  }
  EXPECT_THAT(RefusedWith("per_layer_config", {{"05", {{"skip", {"mlp"}}}}}),
              AllOf(HasSubstr("per_layer_config of layer 5"), HasSubstr("skip is not known")));
}

TEST(Gemma4Config, RefusesRotationsItDoesNotKnow) {
  const Json local = {{"rope_type", "default"}, {"rope_theta", 1e4}};
  const auto refused = [&](const Json& full) {
    return RefusedWith("rope_parameters", {{"full_attention", full}, {"sliding_attention", local}});
  };
  EXPECT_THAT(refused({{"rope_type", "yarn"}}), HasSubstr("rope_type"));
  EXPECT_THAT(refused({{"rope_type", "proportional"}, {"partial_rotary_factor", 1.5}}),
              HasSubstr("partial_rotary_factor must be from 0 to 1"));
  EXPECT_THAT(refused({{"rope_type", "proportional"}, {"factor", 0}}), HasSubstr("factor"));
  EXPECT_THAT(refused({{"beta_fast", 32}}), HasSubstr("beta_fast is not known"));
  EXPECT_THAT(RefusedWith("rope_parameters", {{"sliding_attention", local}}),
              HasSubstr("rope_parameters must have an object full_attention"));
}

}  // namespace
}  // namespace reel::model
