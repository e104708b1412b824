// SPDX-License-Identifier: Apache-2.0
// Steps are shared where the device gains by it, and not where it loses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "server/worker/engine/sharing_gains.h"
#include "server/worker/engine/step_row.h"
#include "tests/unit/server/worker/engine/engine_fixture.h"

namespace reel::worker {
namespace {

using model::Stage;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// A step loses or gains by 35 ms and more, which is longer than a busy machine lets it wait.
class EngineSharingTest : public EngineTest {
 protected:
  static constexpr int kSteps = 16;

  // One by itself, from which the engine learns what a step alone takes; then two at once.
  void RunOneAndThenTwo() {
    AssignLong("first");
    events_.on_progress = [this](const JobRef& job, Stage stage, int step) {
      if (stage == Stage::kEncode) ends_.push_back(job.job);
      if (job.job == "first" && stage == Stage::kDenoise && step == kSteps) {
        AssignLong("a");
        AssignLong("b");
      }
    };
    Start();
    for (const char* job : {"first", "a", "b"}) {
      ASSERT_TRUE(events_.WaitForEnd(job)) << job;
      EXPECT_TRUE(events_.ended(job).error.ok()) << events_.ended(job).error;
    }
    for (const StepSample& step : events_.steps()) {
      if (step.jobs[0] != "first") steps_.push_back(step);
    }
  }
  void AssignLong(const std::string& name) {
    model::GenerationSpec spec = Spec(name);
    spec.num_inference_steps = kSteps;
    engine().Post(Job(name, spec));
  }

  std::vector<std::string> ends_;
  std::vector<StepSample> steps_;  // without those of the first
};

TEST_F(EngineSharingTest, WhereSharedStepsCostMoreThanTheyGainJobsGoOneAfterTheOther) {
  test_card_.step_time = absl::Milliseconds(10);
  test_card_.step_time_per_extra_job = absl::Milliseconds(80);
  RunOneAndThenTwo();
  // Their first two steps tell nothing, and five more that they lose. From then on each has the
  // device for itself: no step more than alone, and the first is done when it would be
  // alone.
  const int tried = StepRow::kFirstThatTells - 1 + static_cast<int>(SharingGains::kWindow);
  std::vector<std::vector<std::string>> expected(tried, {"a", "b"});
  for (const char* job : {"a", "b"}) {
    for (int i = tried; i < kSteps; ++i) expected.push_back({job});
  }
  std::vector<std::vector<std::string>> seen;
  for (const StepSample& step : steps_) seen.push_back(step.jobs);
  EXPECT_EQ(seen, expected);
  EXPECT_THAT(ends_, ElementsAre("first", "a", "b"));
}

TEST_F(EngineSharingTest, WhatIsKnownToLoseDoesNotBegin) {
  test_card_.step_time = absl::Milliseconds(10);
  test_card_.step_time_per_extra_job = absl::Milliseconds(80);
  AssignLong("first");
  events_.on_progress = [this](const JobRef& job, Stage stage, int step) {
    if (stage != Stage::kDenoise) return;
    if (job.job == "first" && step == kSteps) {
      for (const char* name : {"a", "b"}) AssignLong(name);
    }
    if (job.job == "b" && step == kSteps) {
      for (const char* name : {"c", "d"}) AssignLong(name);
    }
    if (job.job == "c" && step == kSteps) {
      EXPECT_THAT(events_.progress("d"), SizeIs(0));
    }
  };
  Start();
  for (const char* job : {"first", "a", "b", "c", "d"}) ASSERT_TRUE(events_.WaitForEnd(job));
  EXPECT_EQ(events_.ended("c").result.stats.mean_batch, 1);
  EXPECT_EQ(events_.ended("d").result.stats.mean_batch, 1);
}

TEST_F(EngineSharingTest, WhereSharedStepsGainAllAreShared) {
  test_card_.step_time = absl::Milliseconds(40);
  test_card_.step_time_per_extra_job = absl::Milliseconds(4);
  RunOneAndThenTwo();
  EXPECT_THAT(steps_, SizeIs(kSteps));
  for (const StepSample& step : steps_) EXPECT_THAT(step.jobs, ElementsAre("a", "b"));
}

}  // namespace
}  // namespace reel::worker
