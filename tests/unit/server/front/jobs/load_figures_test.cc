// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/load_figures.h"

#include <gtest/gtest.h>

#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

// A step takes two seconds, and a worker holds two jobs.
class LoadFiguresTest : public ::testing::Test, public Harness {
 protected:
  void SetUp() override {
    Start();
    AddWorker();
    LearnSteps(absl::Seconds(2));
  }
};

TEST_F(LoadFiguresTest, ModelsAreReadyOnceLoadedAndTheirQueuesAge) {
  AdvanceAndPoke(absl::Seconds(1));
  EXPECT_EQ(observer.Get().models.at("card"), std::make_pair(true, 0.0));
  EXPECT_EQ(observer.Get().models.at("late"), std::make_pair(false, 0.0));
  MustCreate(Request());
  const Sent first = Take();
  Progress(first, model::Stage::kDenoise, 1);
  AdvanceAndPoke(absl::Seconds(5));
  MustCreate(Request());  // its worker has it, and has not begun
  AdvanceAndPoke(absl::Seconds(3));
  EXPECT_EQ(observer.Get().models.at("card"), std::make_pair(true, 3.0));
  Progress(Take(), model::Stage::kDenoise, 1);
  AdvanceAndPoke(absl::Seconds(1));
  EXPECT_EQ(observer.Get().models.at("card").second, 0);
}

TEST_F(LoadFiguresTest, WhatIsToldFirstOfTheTimeLeftIsWhatWasQuoted) {
  AddWorker("w1");
  for (int i = 0; i < 4; ++i) MustCreate(Request());
  const auto quoted =
      Await<CostEstimate>([&](auto done) { dispatcher->Estimate(Request(), std::move(done)); });
  ASSERT_TRUE(quoted.ok()) << quoted.status();
  const Video video = MustCreate(Request())->Snapshot();
  EXPECT_GT(quoted->queue, absl::Seconds(30));
  EXPECT_EQ(video.progress.remaining, quoted->queue + quoted->run_p50);
}

TEST_F(LoadFiguresTest, TheTimeLeftAtAFifthIsHeldAgainstWhatCame) {
  const JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  for (int step = 1; step <= 4; ++step) {
    Progress(sent, model::Stage::kDenoise, step);
    AdvanceAndPoke(absl::Seconds(2));
  }
  AdvanceAndPoke(absl::Seconds(30));
  Media(sent, 0, "frames");
  Finish(sent, 6);
  EXPECT_EQ(WaitForEnd(*job).state, VideoState::kSucceeded);
  const auto times = observer.Get().times_left;
  ASSERT_EQ(times.size(), 1u);
  // Told once, at the second or third of ten steps of two seconds.
  EXPECT_GT(times[0].first, absl::Seconds(12));
  EXPECT_LT(times[0].first, absl::Seconds(20));
  EXPECT_GE(times[0].second, absl::Seconds(34));
  EXPECT_LE(times[0].second, absl::Seconds(37));
}

}  // namespace
}  // namespace reel::front
