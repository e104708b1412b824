// SPDX-License-Identifier: Apache-2.0
// Released models at their full width, as files of holes: names and shapes without any weights.
#include "model/ltx/checkpoint_config.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx/read_vae_config.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/tiny_checkpoint.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model::ltx {
namespace {

nlohmann::json Layout(const std::string& name) {
  const auto json = ReadJsonFile(std::string(std::getenv("REEL_SOURCE")) +
                                 "/tests/golden/layouts/" + name + ".json");
  EXPECT_TRUE(json.ok()) << json.status();
  return json.ok() ? *json : nlohmann::json();
}

// A checkpoint whose data is a hole in the file.
class HollowFile {
 public:
  void Add(const std::string& name, const nlohmann::json& shape) {
    int64_t bytes = 2;
    for (const auto& size : shape) bytes *= size.get<int64_t>();
    header_[name] = {{"dtype", "BF16"}, {"shape", shape}, {"data_offsets", {end_, end_ + bytes}}};
    end_ += bytes;
  }
  std::string Write() const {
    const std::string head = SafetensorsBytes(header_.dump(), "");
    const std::string path = scratch_.Write("model.safetensors", head);
    std::filesystem::resize_file(path, head.size() + static_cast<size_t>(end_));
    return path;
  }

 private:
  const reel::testing::TempFolder scratch_;
  nlohmann::json header_;
  int64_t end_ = 0;
};

std::string Describe(const VaeConfig& config) {
  std::ostringstream text;
  text << config.latent_channels << " " << config.patch << " " << config.timestep_conditioning
       << " " << config.encoder_in << " " << config.encoder_mid << "x" << config.encoder_mid_layers;
  for (const DownStage& stage : config.down) {
    text << " down " << stage.in << "-" << stage.out << "x" << stage.layers << " "
         << static_cast<int>(stage.sampler) << stage.stride_t << stage.stride_s
         << stage.has_conv_out;
  }
  text << " mid " << config.decoder_mid << "x" << config.decoder_mid_layers
       << config.decoder_mid_noise;
  for (const UpStage& stage : config.up) {
    text << " up " << stage.in << "-" << stage.out << "x" << stage.layers << " " << stage.upsample
         << stage.factor << stage.residual << stage.inject_noise << stage.has_conv_in;
  }
  return text.str();
}

struct Release {
  const char* vae;
  const char* transformer;
  CheckpointVersion version;
};

class Releases : public ::testing::TestWithParam<Release> {};

TEST_P(Releases, HaveTheConfigurationsOfTheirFolders) {
  const Release& release = GetParam();
  const nlohmann::json vae = Layout(std::string("vae-") + release.vae);
  const nlohmann::json transformer = Layout(std::string("transformer-") + release.transformer);
  HollowFile file;
  for (const auto& [name, shape] : transformer["shapes"].items()) {
    file.Add(OriginalTransformerName(name), shape);
  }
  for (const auto& [name, shape] : vae["shapes"].items()) {
    file.Add(OriginalVaeName(name, release.vae), shape);
  }
  const auto set = WeightSet::OpenFile(file.Write());
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(*DetectVersion(*set), release.version);

  const auto part = TransformerOf(*set);
  const auto config = TransformerConfigOf(*part, release.version);
  ASSERT_TRUE(config.ok()) << config.status();
  const TransformerConfig expected = *ReadTransformerConfig(transformer["config"], "folder");
  EXPECT_EQ(config->num_heads, expected.num_heads);
  EXPECT_EQ(config->head_dim, expected.head_dim);
  EXPECT_EQ(config->num_layers, expected.num_layers);
  EXPECT_EQ(config->caption_channels, expected.caption_channels);
  EXPECT_EQ(config->in_channels, expected.in_channels);
  EXPECT_TRUE(config->attention_bias && config->attention_out_bias);
  for (const auto& [name, shape] : transformer["shapes"].items()) {
    ASSERT_NE(part->Find(name), nullptr) << name;
  }

  const auto vae_part = VaeOf(*set, release.version);
  const auto vae_config = VaeConfigOf(*vae_part, release.version);
  ASSERT_TRUE(vae_config.ok()) << vae_config.status();
  EXPECT_EQ(Describe(*vae_config), Describe(*ReadVaeConfig(vae["config"], "folder")));
  for (const auto& [name, shape] : vae["shapes"].items()) {
    ASSERT_NE(vae_part->Find(name), nullptr) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Releases,
                         ::testing::Values(Release{"0.9.0", "2b", CheckpointVersion::k090},
                                           Release{"0.9.1", "2b", CheckpointVersion::k091},
                                           Release{"0.9.5", "2b", CheckpointVersion::k095},
                                           Release{"0.9.5", "13b", CheckpointVersion::k097}));

}  // namespace
}  // namespace reel::model::ltx
