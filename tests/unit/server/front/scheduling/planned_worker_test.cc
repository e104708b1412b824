// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/planned_worker.h"

#include <gtest/gtest.h>

#include <string>

namespace reel::front {
namespace {

class PackingWorkerTest : public ::testing::Test {
 protected:
  static StepSample StepOfJobs(size_t jobs, int left_out, const std::string& plan = "auto") {
    StepSample step;
    step.jobs.resize(jobs);
    step.model = "m";
    step.plan = plan;
    step.left_out = left_out;
    return step;
  }
  bool Packs(size_t jobs, const std::string& plan = "auto") const {
    WorkShape like;
    like.model = "m";
    like.plan = plan;
    return worker_.Packs(like, jobs, 100, 100);
  }

  PlannedWorker worker_;
};

TEST_F(PackingWorkerTest, PacksWhatFitsWhileNothingElseIsKnown) {
  EXPECT_TRUE(Packs(16));
  WorkShape like;
  like.model = "m";
  EXPECT_FALSE(worker_.Packs(like, 2, 101, 100));
  EXPECT_FALSE(worker_.SawStep(StepOfJobs(2, 0)));
  EXPECT_FALSE(worker_.SawStep(StepOfJobs(1, 0)));
  EXPECT_TRUE(Packs(16));
}

TEST_F(PackingWorkerTest, PacksNoMoreThanShareAStep) {
  EXPECT_TRUE(worker_.SawStep(StepOfJobs(4, 4)));
  EXPECT_FALSE(worker_.SawStep(StepOfJobs(4, 4)));
  EXPECT_TRUE(Packs(4));
  EXPECT_FALSE(Packs(5));
  EXPECT_TRUE(worker_.SawStep(StepOfJobs(1, 7)));
  EXPECT_TRUE(Packs(1));
  EXPECT_FALSE(Packs(2));
  EXPECT_TRUE(Packs(16, "fp8"));
}

TEST_F(PackingWorkerTest, PacksAgainOnceMoreOfThemShareStepAfterStep) {
  worker_.SawStep(StepOfJobs(1, 1));
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(worker_.SawStep(StepOfJobs(2, 0, "fp8")));
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(worker_.SawStep(StepOfJobs(2, 0)));
  EXPECT_FALSE(Packs(2));
  EXPECT_TRUE(worker_.SawStep(StepOfJobs(2, 0)));
  EXPECT_TRUE(Packs(2));
}

TEST_F(PackingWorkerTest, FewStepsThatTryAgainAreNoNews) {
  worker_.SawStep(StepOfJobs(1, 1));
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 8; ++k) EXPECT_FALSE(worker_.SawStep(StepOfJobs(2, 0)));
    EXPECT_FALSE(worker_.SawStep(StepOfJobs(1, 1)));
    EXPECT_FALSE(Packs(2));
  }
}

TEST_F(PackingWorkerTest, AModelThatIsLoadedAnewBeginsAnew) {
  worker_.SawStep(StepOfJobs(1, 1));
  model::ModelCard card;
  card.name = "n";
  worker_.SetSteps(card);
  EXPECT_FALSE(Packs(2));
  card.name = "m";
  worker_.SetSteps(card);
  EXPECT_TRUE(Packs(2));
  card.steps_alone = true;
  worker_.SetSteps(card);
  EXPECT_FALSE(Packs(2));
}

TEST_F(PackingWorkerTest, WhatCallersMakeUpDoesNotGrowWithoutEnd) {
  for (int i = 0; i < 10'000; ++i) {
    worker_.SawStep(StepOfJobs(1, 1, "auto+op=" + std::to_string(i)));
  }
  EXPECT_LE(worker_.together.size(), 256U);
  EXPECT_FALSE(Packs(2, "auto+op=9999"));
}

}  // namespace
}  // namespace reel::front
