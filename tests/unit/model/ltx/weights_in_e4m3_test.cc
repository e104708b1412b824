// SPDX-License-Identifier: Apache-2.0
// Models that hold codes in the place of weights (WeightsForm::kE4m3), against those that have
// both.
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx/ltx_pipeline.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/ltx/pipeline_run.h"

namespace reel::model::ltx {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kHeldBlocks = 8;

class WeightsInE4m3 : public LtxPipeline {
 protected:
  void SetUp() override {
    LtxPipeline::SetUp();
    if (IsSkipped()) return;
    if (!DeviceUnderTest()->catalog.Plan("fp8", {}).ok()) {
      GTEST_SKIP() << "SKIPPED: this device has no products in e4m3";
    }
    folder_.SetLayers(kHeldBlocks);
  }

  LoadOptions Options(WeightsForm form, std::optional<int> resident = {}) const {
    LoadOptions options;
    options.path = folder_.path();
    options.dtype = "fp32";
    options.random_weights = 7;
    options.offload.resident_blocks = resident;
    options.weights_form = form;
    return options;
  }
  std::unique_ptr<Pipeline> Holding(WeightsForm form, std::optional<int> resident = {}) const {
    return Load(folder_, Options(form, resident));
  }
  at::Tensor Latents(Pipeline& pipeline, const std::string& profile,
                     const GenerationSpec& spec = TinySpec("text")) {
    const auto generation = Denoised(pipeline, spec, profile);
    return generation == nullptr ? at::Tensor() : LatentsOf(pipeline, *generation);
  }

  const TinyFolder folder_{"0.9.5"};
};

TEST_F(WeightsInE4m3, MakeTheVideosOfTheProfileWhereverTheyAre) {
  const auto whole = Holding(WeightsForm::k16);
  const auto alone = Holding(WeightsForm::kE4m3);
  ASSERT_TRUE(whole != nullptr && alone != nullptr);
  const at::Tensor expected = Latents(*whole, "fp8");
  EXPECT_TRUE(Latents(*alone, "fp8").equal(expected));
  for (const int resident : {0, 3}) {
    const auto streaming = Holding(WeightsForm::kE4m3, resident);
    ASSERT_NE(streaming, nullptr);
    EXPECT_EQ(streaming->card().fit->streamed_blocks, kHeldBlocks - resident);
    EXPECT_TRUE(Latents(*streaming, "fp8").equal(expected)) << resident;
  }
}

TEST_F(WeightsInE4m3, AreWidenedForProfilesThatMultiplyNoCodes) {
  const auto whole = Holding(WeightsForm::k16);
  const auto alone = Holding(WeightsForm::kE4m3), streaming = Holding(WeightsForm::kE4m3, 3);
  ASSERT_TRUE(whole != nullptr && alone != nullptr && streaming != nullptr);
  const at::Tensor exact = Latents(*whole, "reference"), made = Latents(*alone, "reference");
  ASSERT_TRUE(exact.defined() && made.defined());
  const double error = ((made - exact).norm() / exact.norm()).item<double>();
  EXPECT_GT(error, 0) << "nothing was rounded to 8 bits";
  EXPECT_LT(error, 0.05);
  EXPECT_TRUE(Latents(*streaming, "reference").equal(made));
}

TEST_F(WeightsInE4m3, TakeLessThanHalfAndAreInTheCardAsACheckForeseesThem) {
  const auto whole = Holding(WeightsForm::k16);
  for (const std::optional<int> resident : {std::optional<int>(), std::optional(3)}) {
    const auto alone = Holding(WeightsForm::kE4m3, resident);
    const auto checked =
        CheckLtxModel(Options(WeightsForm::kE4m3, resident), DeviceUnderTest()->stream);
    ASSERT_TRUE(checked.ok() && whole != nullptr && alone != nullptr) << checked.status();
    EXPECT_EQ(alone->card().fit, checked->fit);
    EXPECT_EQ(alone->card().weight_bytes, checked->weight_bytes);
    EXPECT_EQ(alone->card().parameters, whole->card().parameters);
    EXPECT_EQ(checked->weights_form, WeightsForm::kE4m3);
    EXPECT_THAT(checked->lossy_profiles, Contains("fp8"));
    EXPECT_THAT(checked->lossy_profiles, Not(Contains(HasSubstr("int8"))));
    EXPECT_LT(checked->fit->weight_bytes(), whole->card().weight_bytes);
  }
}

TEST_F(WeightsInE4m3, AreRefusedToAModelWhoseSidesProductsDoNotTake) {
  const std::string file = folder_.path() + "/transformer/config.json";
  nlohmann::json config = *ReadJsonFile(file);
  config["attention_head_dim"] = 10;
  config["cross_attention_dim"] = 10 * config["num_attention_heads"].get<int>();
  std::ofstream(file) << config;
  const auto refused =
      LoadLtxPipeline(Options(WeightsForm::kE4m3), DeviceUnderTest()->stream).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("multiple of 16"));
}

}  // namespace
}  // namespace reel::model::ltx
