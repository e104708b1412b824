// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/time_table.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {
namespace {

class TimeTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = folder_.path() + "/transformer";
    const auto stored = WeightSet::OpenFolder(path, "diffusion_pytorch_model");
    const auto config = ReadTransformerConfig(*ReadJsonFile(path + "/config.json"), "config.json");
    auto loaded = Transformer::Load(*stored, *config, at::kFloat, at::kCPU);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    transformer_ = std::make_unique<Transformer>(*std::move(loaded));
    for (int step = 0; step < 200; ++step) {
      schedule_.timesteps.push_back(1000.0f - 5 * static_cast<float>(step));
    }
  }

  StepTimes At(TimeTable& table, const at::Tensor& mask, bool each, int step) {
    return table.At(ops_, *transformer_, {schedule_, x_, mask, each}, step);
  }

  const TinyFolder folder_{"0.9.0"};
  TestRun test_;
  const Ops ops_{test_.run};
  std::unique_ptr<Transformer> transformer_;
  Schedule schedule_;
  const at::Tensor x_ = at::zeros({1, 6, 8});
  const at::Tensor mask_ = at::tensor({1.0f, 0.0f, 0.0f, 0.5f, 1.0f, 0.0f}).unsqueeze(0);
};

TEST_F(TimeTableTest, HasEachStepsTimeAndItsRowsInTheModelsOrder) {
  TimeTable table;
  for (const int step : {0, 1, 127, 128, 199, 3}) {
    const StepTimes times = At(table, {}, false, step);
    EXPECT_FALSE(times.of_token.defined());
    EXPECT_EQ(times.values.item<float>(), schedule_.timesteps[static_cast<size_t>(step)]);
    const TimeRows alone = transformer_->Times(ops_, times.values);
    EXPECT_LT(Compare("embedded", times.rows.embedded, alone.embedded).relative, 1e-5);
    EXPECT_LT(Compare("rows", times.rows.rows, alone.rows).relative, 1e-5);
  }
}

TEST_F(TimeTableTest, GivesAStepTheSameBitsWhicheverIsAskedForFirst) {
  TimeTable in_order;
  for (int step = 0; step < 200; step += 7) {
    TimeTable resumed;  // as after a generation was parked
    const TimeRows expected = At(in_order, mask_, false, step).rows;
    EXPECT_TRUE(At(resumed, mask_, false, step).rows.rows.equal(expected.rows)) << step;
  }
}

TEST_F(TimeTableTest, HasTheTimesOfPinnedTokensOnce) {
  for (const bool each : {false, true}) {
    TimeTable table;
    const StepTimes times = At(table, mask_, each, 40);
    EXPECT_EQ(times.values.numel(), 3);
    EXPECT_EQ(times.rows.rows.size(0), 3);
    const at::Tensor expected =
        each ? at::minimum(at::full({1}, 800.0f), (1 - mask_) * 1000) : 800.0f * (1 - mask_);
    EXPECT_TRUE(times.ForTokens(times.values).equal(expected));
  }
}

TEST_F(TimeTableTest, GoesWithItsClipAndIsNotMadeAgain) {
  TimeTable table;
  const StepTimes times = At(table, mask_, false, 40);
  const at::Tensor moved_mask = mask_.clone();
  TimeTable moved = table.To(at::kCPU, moved_mask);
  test_.counters = {};
  EXPECT_TRUE(At(moved, moved_mask, false, 41).rows.rows.defined());
  EXPECT_TRUE(At(moved, moved_mask, false, 40).rows.rows.equal(times.rows.rows));
  EXPECT_TRUE(test_.counters.Uses().empty());
}

TEST_F(TimeTableTest, IsMadeAnewWhenTheClipIsAnother) {
  TimeTable table;
  EXPECT_EQ(At(table, mask_, false, 0).values.numel(), 3);
  EXPECT_EQ(At(table, at::ones({1, 6}), false, 0).values.item<float>(), 0);
  schedule_.timesteps[0] = 999;
  EXPECT_EQ(At(table, {}, false, 0).values.item<float>(), 999);
}

}  // namespace
}  // namespace reel::model::ltx
