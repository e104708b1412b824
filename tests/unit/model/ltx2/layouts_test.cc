// SPDX-License-Identifier: Apache-2.0
// The released sizes: every tensor of theirs is taken, by name and shape, and none is missing. On
// libtorch's device without memory, from files without values.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "gtest/gtest.h"
#include "model/ltx2/connectors.h"
#include "model/ltx2/transformer.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model::ltx2 {
namespace {

using nlohmann::json;

constexpr char kFirstBlock[] = "transformer_blocks.0.";

json LayoutOf(const std::string& name) {
  const std::string path = std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/ltx2/layouts/";
  return *ReadJsonFile(path + name + ".json");
}

// A file of so many blocks like the first. All of it but the header is a hole.
class HollowWeights {
 public:
  HollowWeights(const json& shapes, int64_t blocks) {
    for (const auto& [name, shape] : shapes.items()) {
      const size_t at = name.find(kFirstBlock);
      if (at == std::string::npos) {
        Add(name, shape);
        continue;
      }
      for (int64_t i = 0; i < blocks; ++i) {
        std::string other = name;
        Add(other.replace(at + std::string(kFirstBlock).size() - 2, 1, std::to_string(i)), shape);
      }
    }
    const std::string bytes = SafetensorsBytes(header_.dump(), "");
    scratch_.Write("model.safetensors", bytes);
    std::filesystem::resize_file(scratch_.path() + "/model.safetensors", bytes.size() + size_);
  }
  WeightSet Open() const { return *WeightSet::OpenFolder(scratch_.path(), "model"); }

 private:
  void Add(const std::string& name, const json& shape) {
    size_t count = 1;
    for (const json& side : shape) count *= side.get<size_t>();
    header_[name] = {
        {"dtype", "F8_E4M3"}, {"shape", shape}, {"data_offsets", {size_, size_ + count}}};
    size_ += count;
  }

  const reel::testing::TempFolder scratch_;
  json header_;
  size_t size_ = 0;
};

int64_t TransformerParameters(const json& layout, int64_t blocks) {
  json config = layout["config"];
  config["num_layers"] = blocks;
  const HollowWeights weights(layout["shapes"], blocks);
  const auto model = Transformer::Load(
      weights.Open(), *ReadTransformerConfig(config, "config.json"), at::kBFloat16, at::kMeta);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? model->parameters() : 0;
}

int64_t ConnectorsParameters(const json& layout, int64_t blocks) {
  json config = layout["config"];
  config["video_connector_num_layers"] = config["audio_connector_num_layers"] = blocks;
  const HollowWeights weights(layout["shapes"], blocks);
  const auto model = Connectors::Load(weights.Open(), *ReadConnectorsConfig(config, "config.json"),
                                      1024, at::kBFloat16, at::kMeta);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? model->parameters() : 0;
}

// Of all blocks, from what one and two of them have.
int64_t OfAllBlocks(int64_t one, int64_t two, int64_t blocks) {
  return one + (blocks - 1) * (two - one);
}

class TransformerLayout : public ::testing::TestWithParam<const char*> {};

TEST_P(TransformerLayout, EveryTensorIsTakenAndNoneIsMissing) {
  const json layout = LayoutOf(std::string("transformer-") + GetParam());
  const TransformerConfig config = *ReadTransformerConfig(layout["config"], "config.json");
  const int64_t parameters = OfAllBlocks(TransformerParameters(layout, 1),
                                         TransformerParameters(layout, 2), config.num_layers);
  EXPECT_EQ(parameters, layout["parameters"].get<int64_t>());
}

TEST_P(TransformerLayout, SuitsProductsIn8Bits) {
  const json layout = LayoutOf(std::string("transformer-") + GetParam());
  const TransformerConfig config = *ReadTransformerConfig(layout["config"], "config.json");
  for (const RowForm form : {RowForm::kInt8, RowForm::kE4m3}) {
    EXPECT_TRUE(TakesLayersIn(config, form));
  }
}

INSTANTIATE_TEST_SUITE_P(Releases, TransformerLayout, ::testing::Values("2.0", "2.3", "2.5"));

class ConnectorsLayout : public ::testing::TestWithParam<const char*> {};

TEST_P(ConnectorsLayout, EveryTensorIsTakenAndNoneIsMissing) {
  const json layout = LayoutOf(std::string("connectors-") + GetParam());
  const ConnectorsConfig config = *ReadConnectorsConfig(layout["config"], "config.json");
  const int64_t parameters = OfAllBlocks(ConnectorsParameters(layout, 1),
                                         ConnectorsParameters(layout, 2), config.video.num_layers);
  EXPECT_EQ(parameters, layout["parameters"].get<int64_t>());
}

INSTANTIATE_TEST_SUITE_P(Releases, ConnectorsLayout, ::testing::Values("2.0", "2.3"));

}  // namespace
}  // namespace reel::model::ltx2
