// SPDX-License-Identifier: Apache-2.0
#include "model/denoise/time_table.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace reel::model {
namespace {

// A network whose rows are functions of their own time alone.
class TimeTableTest : public ::testing::Test {
 protected:
  TimeTableTest() {
    for (int step = 0; step < 200; ++step) {
      timesteps_.push_back(1000.0f - 5 * static_cast<float>(step));
    }
  }

  TimeRows RowsOf(const at::Tensor& times) {
    ++made_;
    const at::Tensor angles = times.unsqueeze(1) * at::arange(1, 5, at::kFloat);
    return {angles.cos(), angles.sin()};
  }

  StepTimes At(TimeTable& table, const at::Tensor& mask, bool each, int step) {
    return table.At({timesteps_, x_, mask, each}, step,
                    [this](const at::Tensor& times) { return RowsOf(times); });
  }

  std::vector<float> timesteps_;
  int made_ = 0;
  const at::Tensor x_ = at::zeros({1, 6, 8});
  const at::Tensor mask_ = at::tensor({1.0f, 0.0f, 0.0f, 0.5f, 1.0f, 0.0f}).unsqueeze(0);
};

TEST_F(TimeTableTest, HasEachStepsTimeAndItsRowsInTheModelsOrder) {
  TimeTable table;
  for (const int step : {0, 1, 127, 128, 199, 3}) {
    const StepTimes times = At(table, {}, false, step);
    EXPECT_FALSE(times.of_token.defined());
    EXPECT_EQ(times.values.item<float>(), timesteps_[static_cast<size_t>(step)]);
    const TimeRows alone = RowsOf(times.values);
    EXPECT_TRUE(times.rows.embedded.equal(alone.embedded));
    EXPECT_TRUE(times.rows.rows.equal(alone.rows));
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

TEST_F(TimeTableTest, AsksTheNetworkForManyStepsTogether) {
  TimeTable table;
  for (int step = 0; step < 200; ++step) At(table, {}, false, step);
  EXPECT_EQ(made_, 2);
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
  made_ = 0;
  EXPECT_TRUE(At(moved, moved_mask, false, 41).rows.rows.defined());
  EXPECT_TRUE(At(moved, moved_mask, false, 40).rows.rows.equal(times.rows.rows));
  EXPECT_EQ(made_, 0);
}

TEST_F(TimeTableTest, IsMadeAnewWhenTheClipIsAnother) {
  TimeTable table;
  EXPECT_EQ(At(table, mask_, false, 0).values.numel(), 3);
  EXPECT_EQ(At(table, at::ones({1, 6}), false, 0).values.item<float>(), 0);
  timesteps_[0] = 999;
  EXPECT_EQ(At(table, {}, false, 0).values.item<float>(), 999);
}

}  // namespace
}  // namespace reel::model
