// SPDX-License-Identifier: Apache-2.0
// Models that hold codes in the place of weights (WeightsForm::kE4m3), against those that have
// both.
#include <memory>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ltx2/ltx2_pipeline.h"
#include "tests/unit/model/ltx2/film.h"

namespace reel::model::ltx2 {
namespace {

constexpr int kHeldBlocks = 7;

class FilmsOfWeightsInE4m3 : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!DeviceUnderTest().ok()) {
      GTEST_SKIP() << "SKIPPED: this machine lacks the device: " << DeviceUnderTest().status();
    }
    if (!DeviceUnderTest()->catalog.Plan("fp8", {}).ok()) {
      GTEST_SKIP() << "SKIPPED: this device has no products in e4m3";
    }
    folder_.Set("transformer", "num_layers", kHeldBlocks);
  }

  static LoadOptions Options(WeightsForm form, std::optional<int> resident = {}) {
    LoadOptions options;
    options.random_weights = 7;
    options.offload.resident_blocks = resident;
    options.weights_form = form;
    return options;
  }
  std::unique_ptr<Pipeline> Holding(WeightsForm form, std::optional<int> resident = {}) const {
    return LoadTiny(folder_, Options(form, resident));
  }
  static at::Tensor Latents(Pipeline& pipeline, const char* profile) {
    const auto generation = ltx::Denoised(pipeline, TinySpec(), profile);
    if (generation == nullptr) return {};
    const Film film = TokensOf(pipeline, *generation);
    return at::cat({film.video.flatten(), film.audio.flatten()});
  }

  const TinyFolder folder_{GetParam()};
};

TEST_P(FilmsOfWeightsInE4m3, AreThoseOfTheProfileWhereverTheyAre) {
  const auto whole = Holding(WeightsForm::k16);
  ASSERT_NE(whole, nullptr);
  const at::Tensor expected = Latents(*whole, "fp8");
  at::Tensor widened;
  for (const int resident : {kHeldBlocks, 0, 3}) {
    SCOPED_TRACE(resident);
    const auto alone = Holding(WeightsForm::kE4m3, resident);
    ASSERT_NE(alone, nullptr);
    EXPECT_EQ(alone->card().fit->streamed_blocks, kHeldBlocks - resident);
    EXPECT_TRUE(Latents(*alone, "fp8").equal(expected));
    // Profiles that multiply no codes take what they stand for.
    const at::Tensor made = Latents(*alone, "reference");
    if (!widened.defined()) widened = made;
    EXPECT_TRUE(made.equal(widened));
  }
  const at::Tensor exact = Latents(*whole, "reference");
  const double error = ((widened - exact).norm() / exact.norm()).item<double>();
  EXPECT_GT(error, 0) << "nothing was rounded to 8 bits";
  EXPECT_LT(error, 0.1);
}

TEST_P(FilmsOfWeightsInE4m3, AreInTheCardAsACheckForeseesThem) {
  const auto whole = Holding(WeightsForm::k16);
  LoadOptions options = Options(WeightsForm::kE4m3, 3);
  options.path = folder_.path();
  options.dtype = "fp32";
  const auto checked = CheckLtx2Model(options, DeviceUnderTest()->stream);
  ASSERT_TRUE(checked.ok()) << checked.status();
  const auto alone = LoadTiny(folder_, options);
  ASSERT_TRUE(whole != nullptr && alone != nullptr);
  EXPECT_EQ(alone->card().fit, checked->fit);
  EXPECT_LT(checked->fit->weight_bytes(), whole->card().weight_bytes);
  EXPECT_THAT(checked->lossy_profiles, ::testing::ElementsAre("fp8"));
}

TEST_P(FilmsOfWeightsInE4m3, AreRefusedWhereNoBlockIsBetweenTheFirstAndTheLast) {
  folder_.Set("transformer", "num_layers", 2);
  LoadOptions options = Options(WeightsForm::kE4m3);
  options.path = folder_.path();
  const auto refused = LoadLtx2Pipeline(options, DeviceUnderTest()->stream).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("its blocks 2"));
}

INSTANTIATE_TEST_SUITE_P(Releases, FilmsOfWeightsInE4m3, ::testing::Values("2.0", "2.3", "2.5"));

}  // namespace
}  // namespace reel::model::ltx2
