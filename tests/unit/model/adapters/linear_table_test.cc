// SPDX-License-Identifier: Apache-2.0
#include "model/adapters/linear_table.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// The linear layers of a released model, whose layout may have its first block alone.
std::vector<LinearLayer> LayersOf(const std::string& layout, const std::string& prefix,
                                  int blocks) {
  const std::string file =
      std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/" + layout + ".json";
  const std::string first = "transformer_blocks.0.", ending = ".weight";
  const json shapes = (*ReadJsonFile(file))["shapes"];
  std::vector<LinearLayer> layers;
  for (const auto& [name, shape] : shapes.items()) {
    if (shape.size() != 2 || !name.ends_with(ending)) continue;
    const std::string layer = prefix + name.substr(0, name.size() - ending.size());
    const size_t at = layer.find(first);
    for (int i = 0; i < (at == std::string::npos ? 1 : blocks); ++i) {
      std::string own = layer;
      if (at != std::string::npos) own.replace(at + first.size() - 2, 1, std::to_string(i));
      layers.push_back({own, shape[0], shape[1]});
    }
  }
  return layers;
}

std::vector<std::vector<LinearLayer>> ReleasedModels() {
  std::vector<std::vector<LinearLayer>> models;
  for (const char* size : {"2b", "13b"}) {
    models.push_back(LayersOf(std::string("layouts/transformer-") + size, "", 1));
  }
  for (const char* version : {"2.0", "2.3", "2.5"}) {
    std::vector<LinearLayer> all =
        LayersOf(std::string("ltx2/layouts/transformer-") + version, "", 48);
    const std::string connectors = version == std::string("2.0") ? "2.0" : "2.3";
    const auto more = LayersOf("ltx2/layouts/connectors-" + connectors, "connectors.", 8);
    all.insert(all.end(), more.begin(), more.end());
    models.push_back(all);
  }
  return models;
}

std::string Flattened(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

// A name that two layers had, flattened or not, would be an error of the table.
TEST(LinearTable, FindsEachLayerOfEachReleaseByAllOfItsNames) {
  for (const std::vector<LinearLayer>& layers : ReleasedModels()) {
    ASSERT_GT(layers.size(), 280U);
    const auto table = LinearTable::Of(layers);
    ASSERT_TRUE(table.ok()) << table.status();
    for (const LinearLayer& layer : layers) {
      for (const std::string& name : {layer.name, OriginalLinearName(layer.name)}) {
        ASSERT_NE(table->Find(name), nullptr) << name;
        EXPECT_EQ(*table->Find(name), layer);
        ASSERT_NE(table->FindFlat(Flattened(name)), nullptr) << name;
        EXPECT_EQ(*table->FindFlat(Flattened(name)), layer);
      }
    }
  }
}

TEST(LinearTable, GivesEachLayerAnOriginalNameOfItsOwn) {
  for (const std::vector<LinearLayer>& layers : ReleasedModels()) {
    std::set<std::string> originals, flat;
    for (const LinearLayer& layer : layers) {
      originals.insert(OriginalLinearName(layer.name));
      flat.insert(Flattened(OriginalLinearName(layer.name)));
    }
    EXPECT_EQ(originals.size(), layers.size());
    EXPECT_EQ(flat.size(), layers.size());
  }
}

TEST(LinearTable, RenamesWholeWordsAtTheFront) {
  EXPECT_EQ(OriginalLinearName("proj_in"), "patchify_proj");
  EXPECT_EQ(OriginalLinearName("time_embed.linear"), "adaln_single.linear");
  EXPECT_EQ(OriginalLinearName("audio_time_embed.linear"), "audio_adaln_single.linear");
  EXPECT_EQ(OriginalLinearName("av_cross_attn_video_a2v_gate.linear"),
            "av_ca_a2v_gate_adaln_single.linear");
  EXPECT_EQ(OriginalLinearName("connectors.text_proj_in"),
            "text_embedding_projection.aggregate_embed");
  EXPECT_EQ(OriginalLinearName("connectors.video_connector.transformer_blocks.1.attn1.to_q"),
            "video_embeddings_connector.transformer_1d_blocks.1.attn1.to_q");
  EXPECT_EQ(OriginalLinearName("proj_in_2"), "proj_in_2");
  EXPECT_EQ(OriginalLinearName("a.proj_in"), "a.proj_in");
}

TEST(LinearTable, RefusesTwoLayersOfOneName) {
  EXPECT_THAT(std::string(LinearTable::Of({{"a.b_c", 1, 1}, {"a_b.c", 1, 1}}).status().message()),
              HasSubstr("a_b_c"));
  EXPECT_FALSE(LinearTable::Of({{"proj_in", 1, 1}, {"patchify_proj", 1, 1}}).ok());
}

TEST(LinearTable, HasNoOtherNames) {
  const auto table = LinearTable::Of({{"blocks.0.to_q", 2, 3}});
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->Find("blocks.0"), nullptr);
  EXPECT_EQ(table->Find("blocks_0_to_q"), nullptr);
  EXPECT_EQ(table->FindFlat("blocks.0.to_q"), nullptr);
  EXPECT_EQ(table->FindFlat(""), nullptr);
}

}  // namespace
}  // namespace reel::model
