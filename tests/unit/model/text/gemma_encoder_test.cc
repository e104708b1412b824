// SPDX-License-Identifier: Apache-2.0
// Prompts to hidden states, against transformers.
#include "model/text/gemma_encoder.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/temp_folder.h"
#include "tests/fakes/tiny_ltx2.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kSeed = 5;  // of drawn weights

std::string GoldenFile(const std::string& name) {
  return std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/" + name;
}

nlohmann::json GemmaFile() { return *ReadJsonFile(GoldenFile("gemma3/config.json")); }

// The tokens of a row of the golden batch, whose padding stands in front.
struct GemmaText {
  at::Tensor ids;  // [1, n]
  int64_t position = 0;
};
GemmaText TextOf(const ltx::Golden& golden, int64_t row) {
  const at::Tensor ids = golden["ids"][row], mask = golden["mask"][row];
  const int64_t count = mask.sum().item<int64_t>();
  return {ids.slice(0, ids.size(0) - count).unsqueeze(0), ids.size(0) - count};
}

// All hidden states of both texts, [states, tokens of both, width] fp32.
at::Tensor Expected(const ltx::Golden& golden, const std::string& name) {
  std::vector<at::Tensor> texts;
  for (int64_t row = 0; row < 2; ++row) {
    texts.push_back(golden[name][row].slice(0, TextOf(golden, row).position));
  }
  return at::cat(texts).permute({2, 0, 1}).to(at::kFloat);
}
at::Tensor StatesBy(const GemmaEncoder& encoder, const ltx::Golden& golden) {
  TestRun test;
  const Ops ops(test.run);
  std::vector<at::Tensor> texts;
  for (int64_t row = 0; row < 2; ++row) {
    const GemmaText text = TextOf(golden, row);
    texts.push_back(at::stack(encoder.Encode(ops, text.ids, text.position)).squeeze(1));
  }
  return at::cat(texts, 1).to(at::kFloat);
}

// Of a folder of tests/golden, which has its weights or the shapes that golden_gemma.py drew.
class GemmaEncoderOf : public ::testing::TestWithParam<const char*> {
 protected:
  GemmaEncoderOf() {
    at::set_num_threads(1);  // tensors this small are only slowed down by more
    if (const auto shapes = ReadJsonFile(File("shapes.json")); shapes.ok()) {
      scratch_.Write("model.safetensors", ltx2::DrawnWeights(*shapes, kSeed));
      weights_ = scratch_.path();
    }
  }

  static std::string File(const std::string& name) {
    return GoldenFile(std::string(GetParam()) + "/" + name);
  }
  static GemmaConfig Config() {
    return *ReadGemmaConfig(*ReadJsonFile(File("config.json")), "config.json");
  }
  WeightSet Stored() const { return *WeightSet::OpenFolder(weights_, "model"); }
  absl::StatusOr<GemmaEncoder> LoadGemma(at::ScalarType dtype,
                                         std::shared_ptr<LayerRing> ring = nullptr,
                                         WeightsForm form = WeightsForm::k16) const {
    return GemmaEncoder::Load(Stored(), Config(), dtype, at::kCPU, std::move(ring), form);
  }

  const ltx::Golden golden_ = ltx::Golden::In(GetParam());

 private:
  const reel::testing::TempFolder scratch_;
  std::string weights_ = File("");
};

// Held to plain x86-64 the worst value is 1.0e-5 off: Gemma 4's scores are not scaled.
TEST_P(GemmaEncoderOf, GivesEveryHiddenStateOfTransformers) {
  const auto encoder = LoadGemma(at::kFloat);
  ASSERT_TRUE(encoder.ok()) << encoder.status();
  const at::Tensor states = StatesBy(*encoder, golden_),
                   expected = Expected(golden_, "states.fp32");
  ASSERT_EQ(states.size(0), encoder->config().num_layers() + 1);
  for (int64_t i = 0; i < states.size(0); ++i) {
    EXPECT_LT(ltx::Compare("state " + std::to_string(i), states[i], expected[i]).relative, 3e-5);
  }
}

// Of a model as tiny as this, 1.05 would be noise: 1.25 was seen of what a processor without
// AVX-512 computes.
TEST_P(GemmaEncoderOf, ErrsInSixteenBitsNoMoreThanTransformersDoes) {
  const auto encoder = LoadGemma(at::kBFloat16);
  ASSERT_TRUE(encoder.ok()) << encoder.status();
  const at::Tensor exact = Expected(golden_, "states.fp32");
  const auto error_of = [&](const at::Tensor& states) {
    return (states - exact).pow(2).mean(at::IntArrayRef{1, 2}).sqrt();
  };
  const at::Tensor own = error_of(StatesBy(*encoder, golden_));
  const at::Tensor reference = error_of(Expected(golden_, "states.bf16"));
  for (int64_t i = 0; i < own.size(0); ++i) {
    const double ratio = own[i].item<double>() / reference[i].item<double>();
    RecordProperty("state_" + std::to_string(i), std::to_string(ratio));
    EXPECT_LT(ratio, 1.5) << "state " << i;
    EXPECT_TRUE(i > 0 || ratio == 1) << "the embeddings, to the bit";
  }
}

TEST_P(GemmaEncoderOf, GivesTheSameBitsWhereItsLayersStream) {
  const c10::InferenceMode no_gradients;
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    const auto whole = LoadGemma(dtype);
    ASSERT_TRUE(whole.ok()) << whole.status();
    const auto ring = LayerRing::Make(at::kCPU, 2, whole->layer_bytes().largest);
    const auto streaming = LoadGemma(dtype, ring);
    ASSERT_TRUE(streaming.ok()) << streaming.status();
    EXPECT_EQ(ring->host_bytes(), whole->layer_bytes().all);
    EXPECT_TRUE(StatesBy(*streaming, golden_).equal(StatesBy(*whole, golden_)));
    EXPECT_GE(ring->copied_bytes(), 2 * ring->host_bytes() - ring->device_bytes());
  }
}

TEST_P(GemmaEncoderOf, InEightBitsTakesLessMemoryAndErrsByLittle) {
  const c10::InferenceMode no_gradients;
  const at::Tensor exact = Expected(golden_, "states.fp32");
  const auto whole = LoadGemma(at::kBFloat16);
  const auto narrow = LoadGemma(at::kBFloat16, nullptr, WeightsForm::kE4m3);
  ASSERT_TRUE(whole.ok() && narrow.ok()) << narrow.status();
  EXPECT_EQ(narrow->form(), WeightsForm::kE4m3);
  // Half, but for norms and the places of tensors in a slot, which count in a model so small.
  EXPECT_LT(4 * narrow->layer_bytes().all, 3 * whole->layer_bytes().all);
  EXPECT_LT(narrow->bytes(), whole->bytes());
  EXPECT_EQ(narrow->parameters(), whole->parameters());
  const at::Tensor states = StatesBy(*narrow, golden_);
  const double error = ((states - exact).norm() / exact.norm()).item<double>();
  RecordProperty("relative", std::to_string(error));
  EXPECT_GT(error, ((StatesBy(*whole, golden_) - exact).norm() / exact.norm()).item<double>());
  EXPECT_LT(error, 0.2);
  // Where layers stream, too.
  const auto ring = LayerRing::Make(at::kCPU, 2, narrow->layer_bytes().largest);
  const auto streaming = LoadGemma(at::kBFloat16, ring, WeightsForm::kE4m3);
  ASSERT_TRUE(streaming.ok()) << streaming.status();
  EXPECT_EQ(ring->host_bytes(), narrow->layer_bytes().all);
  EXPECT_TRUE(StatesBy(*streaming, golden_).equal(states));
}

TEST(GemmaEncoder, ReadsBothFormsOfRotations) {
  nlohmann::json file = GemmaFile();
  const GemmaConfig older = *ReadGemmaConfig(file, "config.json");
  nlohmann::json& text = file["text_config"];
  for (const char* key : {"rope_theta", "rope_local_base_freq", "rope_scaling"}) text.erase(key);
  text["rope_parameters"] = {
      {"full_attention", {{"rope_theta", 1e6}, {"rope_type", "linear"}, {"factor", 8}}},
      {"sliding_attention", {{"rope_theta", 1e4}, {"rope_type", "default"}}}};
  const GemmaConfig newer = *ReadGemmaConfig(file, "config.json");
  EXPECT_EQ(newer.full.theta, older.full.theta);
  EXPECT_EQ(newer.full.positions_per_step, 8);
  EXPECT_EQ(older.full.positions_per_step, 8);
  EXPECT_EQ(newer.local.theta, older.local.theta);
  EXPECT_EQ(newer.local.positions_per_step, 1);
  EXPECT_EQ(ReadGemmaConfig(file["text_config"], "config.json")->width, older.width);
}

TEST(GemmaEncoder, TheListOfLayersWinsOverThePattern) {
  nlohmann::json file = GemmaFile();
  const GemmaConfig by_pattern = *ReadGemmaConfig(file, "config.json");
  EXPECT_EQ(by_pattern.sees_all, (std::vector<bool>{0, 0, 0, 0, 0, 1, 0}));
  file["text_config"]["layer_types"] = std::vector<std::string>(7, "full_attention");
  EXPECT_EQ(ReadGemmaConfig(file, "config.json")->sees_all, std::vector<bool>(7, true));
}

TEST(GemmaEncoder, RefusesByNameWhatItDoesNotCompute) {
  const auto refused = [](const char* key, const nlohmann::json& value) {
    nlohmann::json file = GemmaFile();
    file["text_config"][key] = value;
    return std::string(ReadGemmaConfig(file, "config.json").status().message());
  };
  EXPECT_THAT(refused("hidden_activation", "silu"), HasSubstr("hidden_activation"));
  EXPECT_THAT(refused("attn_logit_softcapping", 50.0), HasSubstr("attn_logit_softcapping"));
  EXPECT_THAT(refused("num_key_value_heads", 3), HasSubstr("num_attention_heads"));
  EXPECT_THAT(refused("rope_scaling", {{"rope_type", "yarn"}}), HasSubstr("rope_type"));
  EXPECT_THAT(refused("layer_types", {"full_attention"}), HasSubstr("layer_types"));
  EXPECT_THAT(refused("head_dim", 7), HasSubstr("head_dim"));
}

TEST_P(GemmaEncoderOf, SaysWhichTensorIsMissing) {
  GemmaConfig config = Config();
  config.sees_all.push_back(true);
  const auto encoder = GemmaEncoder::Load(Stored(), config, at::kFloat, at::kCPU);
  EXPECT_EQ(encoder.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(encoder.status().message(), HasSubstr("layers.7.input_layernorm.weight"));
}

INSTANTIATE_TEST_SUITE_P(Versions, GemmaEncoderOf,
                         ::testing::Values("gemma3", "gemma4/shared", "gemma4/apart"),
                         [](const auto& given) {
                           std::string name = given.param;
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace reel::model
