// SPDX-License-Identifier: Apache-2.0
// Layouts of a video autoencoder that families refuse.
#include "model/vae/vae_config_rules.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class VaeConfigRules : public ::testing::Test {
 protected:
  std::string Refusal() const { return std::string(reader_.status().message()); }

  const nlohmann::json json_ = nlohmann::json::object();
  ConfigReader reader_{json_, "config.json"};
};

TEST_F(VaeConfigRules, AListThatIsTooShortIsRefusedAndFilledUp) {
  EXPECT_THAT(AtLeast(reader_, "layers", std::vector<int64_t>{4, 3}, 2), ElementsAre(4, 3));
  EXPECT_EQ(Refusal(), "");
  EXPECT_THAT(AtLeast(reader_, "layers", std::vector<int64_t>{4}, 2), ElementsAre(4, 0));
  EXPECT_THAT(Refusal(), HasSubstr("layers must have at least 2 items"));
}

TEST_F(VaeConfigRules, ADecodersListCountsFromItsEnd) {
  const std::vector<int64_t> channels = {128, 256, 512};
  EXPECT_EQ(FromLatent(channels, 0), 512);
  EXPECT_EQ(FromLatent(channels, 2), 128);
}

TEST_F(VaeConfigRules, AFoldIsKnownByItsName) {
  EXPECT_EQ(FoldOf("spatial")->s, 2);
  EXPECT_EQ(FoldOf("spatial")->t, 1);
  EXPECT_EQ(FoldOf("temporal")->s, 1);
  EXPECT_EQ(FoldOf("temporal")->t, 2);
  EXPECT_EQ(FoldOf("spatiotemporal")->t, 2);
  EXPECT_FALSE(FoldOf("conv").has_value());
}

TEST_F(VaeConfigRules, AFoldsChannelsMustComeOutEven) {
  const auto sampler = DownStage::Sampler::kSpaceToDepth;
  CheckFold(reader_, {.in = 8, .out = 16, .sampler = sampler, .stride_t = 1, .stride_s = 2});
  EXPECT_EQ(Refusal(), "");
  CheckFold(reader_, {.in = 8, .out = 18, .sampler = sampler, .stride_t = 1, .stride_s = 2});
  EXPECT_THAT(Refusal(), HasSubstr("block_out_channels must be divisible"));
}

}  // namespace
}  // namespace reel::model
