// SPDX-License-Identifier: Apache-2.0
// A folder of configurations whose weights are made up when it is loaded.
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx/ltx_pipeline.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/unit/model/ltx/two_steps.h"

namespace reel::model::ltx {
namespace {

using ::testing::HasSubstr;

class RandomWeights : public ::testing::Test {
 protected:
  RandomWeights() {
    options_.name = "tiny";
    options_.path = folder_.path();
    options_.random_weights = 7;
  }

  void RemoveWeights() {
    std::vector<std::filesystem::path> weights;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      if (entry.path().extension() == ".safetensors") weights.push_back(entry.path());
    }
    EXPECT_GE(weights.size(), 3u);
    for (const auto& file : weights) std::filesystem::remove(file);
  }

  // The latents after two steps.
  std::vector<float> Latents() const {
    const auto pipeline = LoadLtxPipeline(options_, {});
    EXPECT_TRUE(pipeline.ok()) << pipeline.status();
    return pipeline.ok() ? LatentsAfterTwoSteps(**pipeline) : std::vector<float>();
  }

  std::string Error() const {
    const auto pipeline = LoadLtxPipeline(options_, {});
    EXPECT_FALSE(pipeline.ok());
    EXPECT_EQ(CheckLtxModel(options_, {}).status(), pipeline.status());
    return std::string(pipeline.status().message());
  }

  const TinyFolder folder_{"0.9.5"};
  LoadOptions options_;
};

TEST_F(RandomWeights, NeedNoFilesAndAreEqualForASeed) {
  RemoveWeights();
  const std::vector<float> latents = Latents();
  ASSERT_FALSE(latents.empty());
  for (const float value : latents) ASSERT_TRUE(std::isfinite(value));
  EXPECT_EQ(Latents(), latents);
  options_.random_weights = 8;
  EXPECT_NE(Latents(), latents);
}

TEST_F(RandomWeights, AreSaidInTheFamily) {
  LoadOptions of_files = options_;
  of_files.random_weights.reset();
  const auto stored = CheckLtxModel(of_files, {});
  RemoveWeights();
  const auto made = CheckLtxModel(options_, {});
  ASSERT_TRUE(stored.ok() && made.ok()) << made.status();
  EXPECT_EQ(made->family, stored->family + ", random weights");
  EXPECT_EQ(made->parameters, stored->parameters);
  EXPECT_EQ((*LoadLtxPipeline(options_, {}))->card().family, made->family);
}

TEST_F(RandomWeights, AreOfAFolderWithoutAManifest) {
  options_.manifest_file = folder_.path() + "/sums";
  EXPECT_THAT(Error(), HasSubstr("manifest"));
  options_.manifest_file.clear();
  options_.path = folder_.path() + "/transformer/diffusion_pytorch_model.safetensors";
  EXPECT_THAT(Error(), HasSubstr("of a folder"));
}

TEST_F(RandomWeights, AreMissedWhereNobodyAskedForThem) {
  RemoveWeights();
  options_.random_weights.reset();
  EXPECT_THAT(Error(), HasSubstr(".safetensors"));
}

}  // namespace
}  // namespace reel::model::ltx
