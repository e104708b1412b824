// SPDX-License-Identifier: Apache-2.0
// Adapters in every spelling say what the first spelling says, to the bit.
#include "model/adapters/adapter_file.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/model/adapters/example_adapter.h"

namespace reel::model {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string Text(const LowRankProduct& product, const TensorEntry& entry) {
  const auto bytes = product.file->Bytes(entry);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// What an adapter adds to each layer of the example, as bytes.
std::map<std::string, std::string> AddedBy(const absl::StatusOr<AdapterFile>& adapter) {
  EXPECT_TRUE(adapter.ok()) << adapter.status();
  if (!adapter.ok()) return {};
  const auto layers = adapter->LayersIn(ExampleModel());
  EXPECT_TRUE(layers.ok()) << layers.status();
  if (!layers.ok()) return {};
  std::map<std::string, std::string> added;
  for (const AdaptedLayer& layer : *layers) {
    const LowRankProduct& product = layer.product;
    added[layer.layer.name] = Text(product, *product.down) + "|" + Text(product, *product.up) +
                              "|" + std::to_string(product.scale);
  }
  return added;
}

double ScaleOf(const absl::StatusOr<AdapterFile>& adapter) {
  EXPECT_TRUE(adapter.ok()) << adapter.status();
  return adapter.ok() ? adapter->pairs()[0].product.scale : NAN;
}

class AdapterSpellings : public ::testing::Test {
 protected:
  AdapterSpellings()
      : first_(AddedBy(folder_.Open(PairsUnder("", ".lora_A.weight", ".lora_B.weight")))) {}

  // Pairs for two layers, whose names are `query` and `input` behind the prefix.
  static std::vector<TypedTensor> PairsUnder(const std::string& prefix, const std::string& down,
                                             const std::string& up,
                                             const std::string& query = kQuery,
                                             const std::string& input = "proj_in") {
    return {DownOf(prefix + query + down), UpOf(prefix + query + up),
            DownOf(prefix + input + down, 7), UpOf(prefix + input + up, 9)};
  }

  const AdapterFolder folder_;
  const std::map<std::string, std::string> first_;
};

TEST_F(AdapterSpellings, OfEveryEndingSayTheSame) {
  ASSERT_EQ(first_.size(), 2U);
  EXPECT_NE(first_.at(kQuery), first_.at("proj_in"));
  const std::pair<const char*, const char*> endings[] = {
      {".lora_A.default.weight", ".lora_B.default.weight"},
      {".lora_A", ".lora_B"},
      {".lora_down.weight", ".lora_up.weight"},
      {".lora.down.weight", ".lora.up.weight"},
      {"_lora.down.weight", "_lora.up.weight"},
      {".lora_linear_layer.down.weight", ".lora_linear_layer.up.weight"}};
  for (const auto& [down, up] : endings) {
    EXPECT_EQ(AddedBy(folder_.Open(PairsUnder("", down, up))), first_) << down;
  }
}

TEST_F(AdapterSpellings, OfEveryPrefixSayTheSame) {
  for (const char* prefix :
       {"diffusion_model.", "model.diffusion_model.", "transformer.", "base_model.model.",
        "base_model.model.transformer.", "base_model.model.diffusion_model."}) {
    for (const char* input : {"proj_in", "patchify_proj"}) {
      EXPECT_EQ(AddedBy(folder_.Open(
                    PairsUnder(prefix, ".lora_A.weight", ".lora_B.weight", kQuery, input))),
                first_)
          << prefix << input;
    }
  }
}

TEST_F(AdapterSpellings, FlattenedSayTheSame) {
  const std::string flat = "transformer_blocks_0_attn1_to_q";
  for (const char* prefix : {"lora_unet_", "lora_transformer_", "lycoris_"}) {
    for (const char* input : {"proj_in", "patchify_proj"}) {
      EXPECT_EQ(AddedBy(folder_.Open(
                    PairsUnder(prefix, ".lora_down.weight", ".lora_up.weight", flat, input))),
                first_)
          << prefix << input;
    }
  }
}

TEST_F(AdapterSpellings, OfConvolutionsOverSinglePlacesSayTheSame) {
  std::vector<TypedTensor> tensors = PairsUnder("", ".lora_A.weight", ".lora_B.weight");
  for (TypedTensor& tensor : tensors) tensor.shape.insert(tensor.shape.end(), {1, 1});
  EXPECT_EQ(AddedBy(folder_.Open(tensors)), first_);
}

TEST_F(AdapterSpellings, OfOldAttentionProcessorsNameTheirLayers) {
  const std::string block = "transformer_blocks.0.attn1.";
  const auto added = AddedBy(folder_.Open({DownOf(block + "processor.to_out_lora.down.weight"),
                                           UpOf(block + "processor.to_out_lora.up.weight")}));
  EXPECT_TRUE(added.contains(block + "to_out.0"));
}

// Of LTX-2, whose connectors have no prefix in any file.
TEST_F(AdapterSpellings, OfConnectorsStandBesideAnyPrefix) {
  for (const char* name :
       {"connectors.text_proj_in", "text_embedding_projection.aggregate_embed"}) {
    std::vector<TypedTensor> tensors =
        PairsUnder("diffusion_model.", ".lora_A.weight", ".lora_B.weight");
    for (const TypedTensor& tensor : PairOf(name)) tensors.push_back(tensor);
    EXPECT_TRUE(AddedBy(folder_.Open(tensors)).contains("connectors.text_proj_in")) << name;
  }
}

TEST(AdapterScale, IsOneWithoutAlpha) {
  const AdapterFolder folder;
  EXPECT_EQ(ScaleOf(folder.Open(PairOf(kQuery))), 1);
}

TEST(AdapterScale, IsAlphaOverTheRankOfTheTensor) {
  const AdapterFolder folder;
  const auto with = [&](const char* type, const std::string& bytes) {
    std::vector<TypedTensor> tensors = PairOf(kQuery);
    tensors.push_back({std::string(kQuery) + ".alpha", type, {}, bytes});
    return ScaleOf(folder.Open(tensors));
  };
  EXPECT_EQ(with("F32", BytesOfFloats({3})), 1.5);
  EXPECT_EQ(with("BF16", std::string("\x40\x40", 2)), 1.5);
  EXPECT_EQ(with("F16", std::string("\x00\x42", 2)), 1.5);
  EXPECT_EQ(with("I64", std::string("\x03\0\0\0\0\0\0\0", 8)), 1.5);
  // kohya's comments on the rank and alpha are not read.
  std::vector<TypedTensor> tensors = PairOf(kQuery);
  EXPECT_EQ(ScaleOf(folder.Open(tensors, {{"ss_network_dim", "8"}, {"ss_network_alpha", "32"}})),
            1);
}

TEST(AdapterScale, IsReadFromTheMetadata) {
  const AdapterFolder folder;
  const auto with = [&](const json& settings) {
    return ScaleOf(folder.Open(PairOf(std::string("transformer.") + kQuery),
                               {{"lora_adapter_metadata", settings.dump()}}));
  };
  EXPECT_EQ(with({{"transformer.lora_alpha", 8}, {"transformer.r", 2}}), 4);
  EXPECT_EQ(with({{"lora_alpha", 8}}), 4);
  EXPECT_EQ(with({{"transformer.lora_alpha", 8}, {"transformer.use_rslora", true}}),
            8 / std::sqrt(2.0));
  EXPECT_EQ(with({{"transformer.lora_alpha", 8}, {"transformer.alpha_pattern", {{kQuery, 3}}}}),
            1.5);
  EXPECT_EQ(with({{"transformer.lora_alpha", 8}, {"transformer.rank_pattern", {{kQuery, 2}}}}), 4);
  EXPECT_EQ(with({{"transformer.r", 2}}), 1);
}

TEST(AdapterScale, OfATensorCountsMoreThanTheMetadata) {
  const AdapterFolder folder;
  std::vector<TypedTensor> tensors = PairOf(kQuery);
  tensors.push_back({std::string(kQuery) + ".alpha", "F32", {1}, BytesOfFloats({3})});
  EXPECT_EQ(ScaleOf(folder.Open(tensors, {{"lora_adapter_metadata", R"({"lora_alpha": 8})"}})),
            1.5);
}

TEST(AdapterScale, IsReadFromTheFolderOfPeft) {
  const AdapterFolder folder;
  const std::string file = SafetensorsOfTypes(PairOf(std::string("base_model.model.") + kQuery));
  folder.folder().Write("adapter_config.json", R"({"peft_type": "LORA", "lora_alpha": 5, "r": 2})");
  EXPECT_EQ(ScaleOf(AdapterFile::Open(folder.folder().Write("adapter_model.safetensors", file))),
            2.5);
  // Beside a file of another name it is of another adapter.
  EXPECT_EQ(ScaleOf(AdapterFile::Open(folder.folder().Write("other.safetensors", file))), 1);
}

TEST(AdapterScale, RefusesARankPatternThatTheTensorsContradict) {
  const AdapterFolder folder;
  const auto adapter =
      folder.Open(PairOf(kQuery),
                  {{"lora_adapter_metadata", R"({"lora_alpha": 8, "rank_pattern": {"to_q": 4}})"}});
  EXPECT_THAT(std::string(adapter.status().message()), HasSubstr("rank_pattern says 4"));
}

TEST(AdapterFile, CountsPairsThatChangeNothing) {
  const AdapterFolder folder;
  std::vector<TypedTensor> tensors = PairOf(kQuery);
  EXPECT_EQ(*folder.Open(tensors)->CheckValues(), 0);
  tensors[1].bytes = BytesOfFloats(std::vector<float>(kOut * kRank, -0.0f));
  EXPECT_EQ(*folder.Open(tensors)->CheckValues(), 1);
  EXPECT_EQ(folder.Open(tensors)->rank(), kRank);
}

TEST(AdapterReference, IsWantedByTheKeysOfTheMetadataAlone) {
  const AdapterFolder folder;
  const auto wanted = [&](const json& metadata) {
    return folder.Open(PairOf(kQuery), metadata)->reference();
  };
  EXPECT_EQ(wanted(nullptr), std::nullopt);
  EXPECT_EQ(wanted({{"format", "pt"}, {"reference", "2"}}), std::nullopt);
  EXPECT_EQ(wanted({{"reference_downscale_factor", "2"}}), (ReferenceScale{2, 1}));
  EXPECT_EQ(wanted({{"reference_temporal_scale_factor", "8"}}), (ReferenceScale{1, 8}));
  EXPECT_EQ(wanted({{"reference_downscale_factor", "1"}, {"reference_temporal_scale_factor", "4"}}),
            (ReferenceScale{1, 4}));
}

}  // namespace
}  // namespace reel::model
