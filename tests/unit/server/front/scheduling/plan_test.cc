// SPDX-License-Identifier: Apache-2.0
// Tests the plan by single actions, and by the order in which videos begin when it is played.
#include "server/front/scheduling/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/unit/server/front/scheduling/simulator.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;

SimulatedVideo Video(const std::string& id, const std::string& tenant = "t", double step = 1) {
  return {.id = id, .tenant = tenant, .step_seconds = step, .timeout = absl::Hours(10)};
}

// A state by hand: one worker, nothing learned.
class PlanTest : public ::testing::Test {
 protected:
  PlanTest() { workers_.Add("w", "cpu"); }
  PlannedJob& Add(const std::string& id) {
    PlannedJob& job = jobs_.emplace(id, PlannedJob(Phase::kQueued)).first->second;
    job.id = id;
    job.tenant = "t";
    job.need.model = job.need.shape.model = "m";
    job.need.profile = job.need.shape.plan = "auto";
    job.deadline = absl::Minutes(10);
    job.number = static_cast<int64_t>(jobs_.size());
    return job;
  }
  Actions Planned(bool drains = false) {
    PlannedJobs jobs;
    for (const auto& [id, job] : jobs_) jobs.push_back(&job);
    State state(jobs, workers_, costs_, share_, options_);
    state.drains = drains;
    return Plan(state, absl::ZeroDuration());
  }

  JobOptions options_;
  SimulatedWorkers workers_{options_};
  CostModel costs_;
  FairShare share_;
  std::map<std::string, PlannedJob> jobs_;
};

TEST_F(PlanTest, GivesOneJobItsWorkerAndHasMoreToSay) {
  EXPECT_TRUE(Planned().list.empty());
  Add("b").priority = Priority::kLow;
  Add("c");
  for (int i = 0; i < 2; ++i) {  // the state stays as it is, and so does the plan
    const Actions actions = Planned();
    ASSERT_EQ(actions.list.size(), 1U);
    const auto& assign = std::get<action::Assign>(actions.list[0]);
    EXPECT_EQ(assign.job, "c");
    EXPECT_EQ(assign.worker, "w");
    EXPECT_TRUE(actions.more);
  }
}

TEST_F(PlanTest, OfADrainNobodyIsGivenAWorker) {
  Add("a");
  EXPECT_TRUE(Planned(/*drains=*/true).list.empty());
}

TEST_F(PlanTest, RefusesWhatNoWorkerWillEverRun) {
  workers_.Find("w")->info.state = WorkerState::kOut;
  Add("a");
  const Actions actions = Planned();
  ASSERT_EQ(actions.list.size(), 1U);
  EXPECT_EQ(std::get<action::Refuse>(actions.list[0]).job, "a");
}

TEST_F(PlanTest, AModelOnDemandComesAndAnIdleOneMakesWay) {
  PlannedWorker& worker = *workers_.Find("w");
  worker.known = {"m", "n"};
  worker.loaded = {"n"};
  worker.info.memory.total = 100;
  workers_.SetWeights("m", 60);
  workers_.SetWeights("n", 60);
  Add("a");
  const Actions actions = Planned();
  ASSERT_EQ(actions.list.size(), 2U);
  EXPECT_EQ(std::get<action::Unload>(actions.list[0]).model, "n");
  EXPECT_EQ(std::get<action::Load>(actions.list[1]).model, "m");
  EXPECT_TRUE(actions.more);
}

TEST(PlayedPlan, TenantsTakeTurnsWhateverTheyHaveWaiting) {
  Simulator sim;
  sim.AddWorker("w");
  for (int i = 0; i < 6; ++i) sim.Submit(Video(absl::StrCat("a", i), "a"));
  for (int i = 0; i < 2; ++i) sim.Submit(Video(absl::StrCat("b", i), "b"));
  sim.Run();
  EXPECT_THAT(sim.began(), ElementsAre("a0", "b0", "a1", "b1", "a2", "a3", "a4", "a5"));
}

TEST(PlayedPlan, ARunningVideoMakesWayForAShortOneAndGoesOnAfterIt) {
  Simulator sim;
  sim.AddWorker("w");
  sim.Submit(Video("long", "t", 3));
  sim.RunUntil(absl::Seconds(10));
  sim.Submit(Video("short", "t", 0.2));
  sim.Run();
  EXPECT_EQ(sim.EndOf("long").preemptions, 1);
  EXPECT_LT(sim.EndOf("short").ended, absl::Seconds(15));
  EXPECT_LT(sim.EndOf("long").ended, absl::Seconds(33));
}

// They come sooner than they are made.
class TwoKindsTest : public ::testing::Test {
 protected:
  static constexpr int kVideos = 24;
  static std::string Id(int i) { return absl::StrCat("v", 100 + i); }
  TwoKindsTest() {
    for (const char* name : {"a", "b"}) sim_.AddWorker(name, "cuda:2 H");
    sim_.AddWorker("group", "cuda:0+cuda:1 2 x H", 2);
    for (int i = 0; i < kVideos; ++i) {
      sim_.Submit(Video(Id(i), "t", 2));
      Later(absl::Seconds(2));
    }
  }
  void Later(absl::Duration by) {
    sim_.RunUntil(sim_.now() + by);
    const State state = sim_.Now();
    for (const auto& [name, worker] : state.workers.workers()) {
      most_held_ = std::max(most_held_, worker.held.size());
    }
  }

  Simulator sim_;
  size_t most_held_ = 0;
};

TEST_F(TwoKindsTest, ASlowWorkerIsNotGivenTheWholeQueue) {
  while (sim_.num_live() > 0) Later(absl::Seconds(1));
  EXPECT_EQ(most_held_, 2U);  // one that it steps, and the next
}

TEST_F(TwoKindsTest, EqualVideosBeginAsTheyCame) {
  sim_.Run();
  ASSERT_EQ(sim_.began().size(), static_cast<size_t>(kVideos));
  for (int i = 0; i < kVideos; ++i) {
    const auto begins = [&](int video) { return sim_.EndOf(Id(video)).began; };
    int passed_by = 0;
    for (int later = i + 1; later < kVideos; ++later)
      passed_by += begins(later) < begins(i) ? 1 : 0;
    // The next one of a slow worker may wait for as long as the group makes two.
    EXPECT_LE(passed_by, 2) << Id(i);
  }
}

}  // namespace
}  // namespace reel::front
