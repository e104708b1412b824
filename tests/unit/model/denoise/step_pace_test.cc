// SPDX-License-Identifier: Apache-2.0
#include "model/denoise/step_pace.h"

#include <gtest/gtest.h>

#include <vector>

namespace reel::model {
namespace {

class FakeGeneration : public Generation {
 public:
  int step() const override { return 0; }
  int num_steps() const override { return 1; }
  int64_t rows() const override { return 1; }
  int64_t device_bytes() const override { return 0; }
  absl::Status Park(bool) override { return absl::OkStatus(); }
  absl::Status Resume() override { return absl::OkStatus(); }
};

class StepPaceTest : public ::testing::Test {
 protected:
  FakeGeneration a_, b_;
  const std::vector<Generation*> alone_ = {&a_}, both_ = {&a_, &b_};
  StepPace pace_;
};

TEST_F(StepPaceTest, TheFirstStepOfTheSameGenerationsIsWaitedFor) {
  EXPECT_TRUE(pace_.Waits(alone_));
  pace_.Took(absl::Milliseconds(20));
  EXPECT_TRUE(pace_.Waits(both_));
  pace_.Took(absl::Milliseconds(20));
  EXPECT_TRUE(pace_.Waits(alone_));
}

TEST_F(StepPaceTest, ShortStepsFollowEachOtherWithoutAStop) {
  pace_.Waits(alone_);
  for (int step = 0; step < 3; ++step) {
    pace_.Took(kLongStep);
    EXPECT_FALSE(pace_.Waits(alone_));
  }
}

TEST_F(StepPaceTest, EveryLongStepIsWaitedFor) {
  pace_.Waits(alone_);
  for (int step = 0; step < 3; ++step) {
    pace_.Took(kLongStep + absl::Milliseconds(1));
    EXPECT_TRUE(pace_.Waits(alone_));
  }
}

// As one is that a device prepared itself for: only the first pays for that.
TEST_F(StepPaceTest, AStepThatWasLongOnceHoldsNoLaterOnesUp) {
  pace_.Waits(alone_);
  pace_.Took(absl::Milliseconds(700));
  EXPECT_TRUE(pace_.Waits(alone_));
  pace_.Took(absl::Milliseconds(20));
  EXPECT_FALSE(pace_.Waits(alone_));
}

}  // namespace
}  // namespace reel::model
