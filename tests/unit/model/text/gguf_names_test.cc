// SPDX-License-Identifier: Apache-2.0
// Text encoders from GGUF files against the same weights in their folders.
#include "model/text/gguf_names.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/gemma_encoder.h"
#include "model/text/t5_encoder.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/gguf_bytes.h"
#include "tests/fakes/temp_folder.h"
#include "tests/fakes/tiny_ltx2.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model {
namespace {

using reel::testing::Bytes;
using reel::testing::GgufPair;
using reel::testing::GgufTensor;
using ::testing::HasSubstr;
using Replacements = std::vector<std::pair<std::string, std::string>>;

// What convert_hf_to_gguf.py of llama.cpp makes of names, in the order of its work.
const Replacements kT5 = {{"shared.", "token_embd."},
                          {"encoder.final_layer_norm", "enc.output_norm"},
                          {"encoder.block.", "enc.blk."},
                          {"layer.0.SelfAttention.relative_attention_bias", "attn_rel_b"},
                          {"layer.0.SelfAttention.", "attn_"},
                          {"layer.0.layer_norm", "attn_norm"},
                          {"layer.1.layer_norm", "ffn_norm"},
                          {"layer.1.DenseReluDense.wi_0", "ffn_gate"},
                          {"layer.1.DenseReluDense.wi_1", "ffn_up"},
                          {"layer.1.DenseReluDense.wo", "ffn_down"}};
const Replacements kGemma = {{"language_model.model.", ""},
                             {"model.language_model.", ""},
                             {"embed_tokens", "token_embd"},
                             {"layers.", "blk."},
                             {"pre_feedforward_layernorm", "ffn_norm"},
                             {"post_feedforward_layernorm", "post_ffw_norm"},
                             {"post_attention_layernorm", "post_attention_norm"},
                             {"input_layernorm", "attn_norm"},
                             {"self_attn.q_proj", "attn_q"},
                             {"self_attn.k_proj", "attn_k"},
                             {"self_attn.v_proj", "attn_v"},
                             {"self_attn.o_proj", "attn_output"},
                             {"self_attn.q_norm", "attn_q_norm"},
                             {"self_attn.k_norm", "attn_k_norm"},
                             {"mlp.gate_proj", "ffn_gate"},
                             {"mlp.up_proj", "ffn_up"},
                             {"mlp.down_proj", "ffn_down"},
                             {"layer_scalar", "layer_output_scale.weight"}};

std::string GgufName(const Replacements& replacements, std::string name) {
  for (const auto& [from, to] : replacements) absl::StrReplaceAll({{from, to}}, &name);
  return name == "norm.weight" ? "output_norm.weight" : name;
}

// In fp32; `added` to the weights of norms.
std::vector<GgufTensor> TensorsOf(const WeightSet& stored, const Replacements& names, float added) {
  std::vector<GgufTensor> tensors;
  for (const auto& [name, tensor] : stored.tensors()) {
    if (name == "encoder.embed_tokens.weight") continue;
    at::Tensor values = at::empty(tensor.entry->shape, at::kFloat);
    EXPECT_EQ(tensor.bytes().size(), values.nbytes()) << name;
    std::memcpy(values.data_ptr(), tensor.bytes().data(), values.nbytes());
    if (name.find("norm") != std::string::npos) values = values + added;
    tensors.push_back({GgufName(names, name),
                       {tensor.entry->shape.begin(), tensor.entry->shape.end()},
                       0,
                       {static_cast<const char*>(values.data_ptr()), values.nbytes()}});
  }
  return tensors;
}

absl::StatusOr<WeightSet> Write(const std::vector<std::string>& pairs,
                                const std::vector<GgufTensor>& tensors) {
  const reel::testing::TempFolder folder;
  return WeightSet::OpenFile(folder.Write("t.gguf", reel::testing::GgufFile(pairs, tensors)));
}

class T5OfAFile : public ::testing::Test {
 protected:
  T5OfAFile()
      : folder_("0.9.0"),
        config_(*ReadT5Config(*ReadJsonFile(folder_.path() + "/text_encoder/config.json"), "c")),
        stored_(*WeightSet::OpenFolder(folder_.path() + "/text_encoder", "model")) {}

  const ltx::TinyFolder folder_;
  const T5Config config_;
  const WeightSet stored_;
};

at::Tensor EmbeddingsOf(const absl::StatusOr<T5Encoder>& encoder) {
  EXPECT_TRUE(encoder.ok()) << encoder.status();
  TestRun test;
  return encoder->Encode(Ops(test.run), at::tensor({3, 7, 1}, at::kLong).unsqueeze(0), {});
}

TEST_F(T5OfAFile, EqualsThatOfItsFolder) {
  std::vector<GgufTensor> tensors = TensorsOf(stored_, kT5, 0);
  tensors.push_back({"dec.blk.0.attn_q.weight", {1}, 0, "abcd"});
  for (const std::string architecture : {"t5", "t5encoder"}) {
    const auto file = Write({GgufPair("general.architecture", architecture)}, tensors);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_TRUE(HasGgufNames(*file));
    const auto encoder = T5Encoder::Load(*file, config_, at::kFloat, at::kCPU);
    EXPECT_TRUE(at::equal(EmbeddingsOf(encoder),
                          EmbeddingsOf(T5Encoder::Load(stored_, config_, at::kFloat, at::kCPU))));
  }
}

TEST_F(T5OfAFile, IsRefusedIfItIsOfAnotherModelOrHasATensorTooMany) {
  const auto refusal = [&](const std::string& architecture, const std::string& extra) {
    std::vector<GgufTensor> tensors = TensorsOf(stored_, kT5, 0);
    if (!extra.empty()) tensors.push_back({extra, {1}, 0, "abcd"});
    const auto file = Write({GgufPair("general.architecture", architecture)}, tensors);
    return std::string(T5Encoder::Load(*file, config_, at::kFloat, at::kCPU).status().message());
  };
  EXPECT_THAT(refusal("clip", ""), HasSubstr("'clip' (mmproj), expected t5 or t5encoder"));
  EXPECT_THAT(refusal("gemma3", ""), HasSubstr("'gemma3'"));
  EXPECT_THAT(refusal("t5", "enc.blk.0.attn_x.weight"), HasSubstr("enc.blk.0.attn_x.weight"));
  EXPECT_THAT(refusal("t5", "output.weight"), HasSubstr("output.weight"));
}

std::string StoredGemma() {
  return std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/gemma3";
}

class GemmaOfAFile : public ::testing::Test {
 protected:
  GemmaOfAFile()
      : config_(*ReadGemmaConfig(*ReadJsonFile(StoredGemma() + "/config.json"), "c")),
        stored_(*WeightSet::OpenFolder(StoredGemma(), "model")) {}

  absl::StatusOr<GemmaEncoder> Load(const std::vector<std::string>& pairs, float added,
                                    at::ScalarType dtype = at::kFloat) const {
    const auto text = stored_.Renamed([](const std::string& name) -> std::optional<std::string> {
      const bool is_text = name.find("language_model.") != std::string::npos;
      return is_text ? std::optional(name) : std::nullopt;
    });
    const auto file = Write(pairs, TensorsOf(*text, kGemma, added));
    if (!file.ok()) return file.status();
    return GemmaEncoder::Load(*file, config_, dtype, at::kCPU);
  }
  at::Tensor StatesOf(const absl::StatusOr<GemmaEncoder>& encoder) const {
    EXPECT_TRUE(encoder.ok()) << encoder.status();
    TestRun test;
    return at::stack(
        encoder->Encode(Ops(test.run), at::tensor({3, 7, 1}, at::kLong).unsqueeze(0), 0));
  }

  const GemmaConfig config_;
  const WeightSet stored_;
};

// GGUF's norms hold the factor, 1 + w; adding 1 again would give other states.
TEST_F(GemmaOfAFile, EqualsThatOfItsFolderWithTheFactorsOfNormsAsTheyAre) {
  const auto of_folder = GemmaEncoder::Load(stored_, config_, at::kFloat, at::kCPU);
  const std::vector<std::string> gemma = {GgufPair("general.architecture", "gemma3")};
  EXPECT_TRUE(at::equal(StatesOf(Load(gemma, 1)), StatesOf(of_folder)));
  EXPECT_FALSE(at::allclose(StatesOf(Load(gemma, 2)), StatesOf(of_folder), 1e-2, 1e-2));
}

TEST_F(GemmaOfAFile, IsHeldAgainstItsOwnNumbers) {
  const auto number = [](const std::string& key, uint32_t value) {
    return GgufPair("gemma3." + key, 4, Bytes(value));
  };
  const auto layers = static_cast<uint32_t>(config_.num_layers());
  EXPECT_TRUE(Load({number("block_count", layers),
                    number("embedding_length", static_cast<uint32_t>(config_.width))},
                   1)
                  .ok());
  for (const char* key : {"block_count", "embedding_length", "attention.head_count",
                          "attention.head_count_kv", "attention.key_length"}) {
    EXPECT_THAT(std::string(Load({number(key, 77)}, 1).status().message()),
                HasSubstr(std::string("gemma3.") + key + " is '77'"));
  }
  EXPECT_THAT(std::string(Load({GgufPair("general.architecture", "gemma4")}, 1).status().message()),
              HasSubstr("'gemma4', expected gemma3"));
}

// Gemma 4 as convert_hf_to_gguf.py writes it: norms' factors and layers' scales unchanged, and the
// rotated pairs of channels as a tensor. Full attention layers have values of their own ("apart")
// or use their keys ("shared").
class Gemma4OfAFile : public ::testing::TestWithParam<const char*> {
 protected:
  Gemma4OfAFile() {
    folder_.Write("model.safetensors",
                  ltx2::DrawnWeights(*ReadJsonFile(Golden("shapes.json")), /*seed=*/5));
  }

  static std::string Golden(const std::string& file) {
    return std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/gemma4/" + GetParam() + "/" +
           file;
  }
  std::vector<GgufTensor> Tensors() const {
    return TensorsOf(*WeightSet::OpenFolder(folder_.path(), "model"), kGemma, 0);
  }
  GgufTensor Factors(int64_t turned) const {
    const int64_t pairs = config_.full.head_dim / 2;
    GgufTensor factors{"rope_freqs.weight", {static_cast<uint64_t>(pairs)}, 0, ""};
    for (int64_t i = 0; i < pairs; ++i) factors.data += Bytes(i < turned ? 1.0f : 1e30f);
    return factors;
  }
  int64_t Turned() const {
    return static_cast<int64_t>(config_.full.turned * static_cast<double>(config_.full.head_dim)) /
           2;
  }
  absl::StatusOr<GemmaEncoder> Load(const std::vector<std::string>& pairs,
                                    const std::vector<GgufTensor>& tensors) const {
    const auto file = Write(pairs, tensors);
    if (!file.ok()) return file.status();
    return GemmaEncoder::Load(*file, config_, at::kFloat, at::kCPU);
  }
  std::string RefusalOf(const std::vector<std::string>& pairs,
                        const std::vector<GgufTensor>& tensors) const {
    return std::string(Load(pairs, tensors).status().message());
  }
  static std::string Number(const std::string& key, int64_t value) {
    return GgufPair("gemma4." + key, 4, Bytes(static_cast<uint32_t>(value)));
  }

  const reel::testing::TempFolder folder_;
  const GemmaConfig config_ = *ReadGemmaConfig(*ReadJsonFile(Golden("config.json")), "c");
};

TEST_P(Gemma4OfAFile, EqualsThatOfItsFolder) {
  const auto states_of = [](const absl::StatusOr<GemmaEncoder>& encoder) {
    EXPECT_TRUE(encoder.ok()) << encoder.status();
    TestRun test;
    return at::stack(
        encoder->Encode(Ops(test.run), at::tensor({3, 7, 1}, at::kLong).unsqueeze(0), 0));
  };
  std::vector<GgufTensor> tensors = Tensors();
  tensors.push_back(Factors(Turned()));
  // A list with a number for each layer is not read.
  const std::string key_heads = Bytes(uint32_t{5}) + Bytes(uint64_t{1}) + Bytes(int32_t{77});
  const auto of_file =
      Load({GgufPair("general.architecture", "gemma4"), Number("block_count", config_.num_layers()),
            Number("attention.key_length", config_.full.head_dim),
            Number("attention.key_length_swa", config_.local.head_dim),
            GgufPair("gemma4.attention.head_count_kv", 9, key_heads)},
           tensors);
  const auto of_folder = GemmaEncoder::Load(*WeightSet::OpenFolder(folder_.path(), "model"),
                                            config_, at::kFloat, at::kCPU);
  EXPECT_TRUE(at::equal(states_of(of_file), states_of(of_folder)));
}

TEST_P(Gemma4OfAFile, IsHeldAgainstItsOwnNumbers) {
  const std::vector<GgufTensor> tensors = Tensors();
  EXPECT_TRUE(Load({}, tensors).ok());
  EXPECT_THAT(RefusalOf({GgufPair("general.architecture", "gemma3")}, tensors),
              HasSubstr("'gemma3', expected gemma4"));
  for (const char* key :
       {"block_count", "embedding_length", "attention.head_count", "attention.head_count_kv",
        "attention.key_length", "attention.key_length_swa"}) {
    EXPECT_THAT(RefusalOf({Number(key, 77)}, tensors),
                HasSubstr(std::string("gemma4.") + key + " is '77'"));
  }
  std::vector<GgufTensor> turns_more = tensors;
  turns_more.push_back(Factors(Turned() + 1));
  EXPECT_THAT(RefusalOf({}, turns_more), HasSubstr("rope_freqs.weight must turn"));
  std::vector<GgufTensor> has_experts = tensors;
  has_experts.push_back({"blk.0.ffn_gate_inp.weight", {1}, 0, "abcd"});
  EXPECT_THAT(RefusalOf({}, has_experts), HasSubstr("blk.0.ffn_gate_inp.weight"));
}

INSTANTIATE_TEST_SUITE_P(Layouts, Gemma4OfAFile, ::testing::Values("apart", "shared"));

}  // namespace
}  // namespace reel::model
