// SPDX-License-Identifier: Apache-2.0
// The order in which jobs move: batches, parking, and jobs whose encoder is behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "server/errors/error.h"
#include "tests/unit/server/worker/engine/engine_fixture.h"

namespace reel::worker {
namespace {

using model::Stage;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::SizeIs;

class EngineOrderTest : public EngineTest {
 protected:
  // Jobs of each denoising step, in the order of the steps.
  std::vector<std::vector<std::string>> Batches() {
    std::vector<std::vector<std::string>> batches;
    for (const StepSample& step : events_.steps()) batches.push_back(step.jobs);
    return batches;
  }
  void WaitForAll(const std::vector<std::string>& jobs) {
    for (const auto& job : jobs) {
      ASSERT_TRUE(events_.WaitForEnd(job)) << job;
      EXPECT_TRUE(events_.ended(job).error.ok()) << job << events_.ended(job).error;
    }
  }
};

TEST_F(EngineOrderTest, CompatibleJobsShareTheirSteps) {
  for (const char* job : {"a", "b", "c"}) Assign(job);
  Start();
  WaitForAll({"a", "b", "c"});
  EXPECT_THAT(Batches(), SizeIs(4));
  EXPECT_THAT(Batches(), Each(ElementsAre("a", "b", "c")));
  EXPECT_EQ(events_.ended("b").result.stats.mean_batch, 3);
  EXPECT_EQ(events_.steps()[0].rows, 3 * 16);
  EXPECT_THAT(events_.steps()[0].job_rows, ElementsAre(16, 16, 16));
}

TEST_F(EngineOrderTest, AStepTakesNoMoreRowsThanFillIt) {
  options_.fill_rows = 32;
  for (const char* job : {"a", "b", "c"}) Assign(job);
  Start();
  WaitForAll({"a", "b", "c"});
  EXPECT_THAT(Batches()[0], ElementsAre("a", "b"));
  EXPECT_THAT(Batches()[4], ElementsAre("c"));
}

TEST_F(EngineOrderTest, AJobThatFitsNoStepHasNotBegunUntilItIsItsTurn) {
  options_.fill_rows = 31;  // of 2 x 16
  for (const char* job : {"a", "b"}) Assign(job);
  events_.on_progress = [this](const JobRef& job, Stage stage, int step) {
    if (job.job == "a" && stage == Stage::kDenoise && step == 4) {
      EXPECT_TRUE(events_.progress("b").empty());
    }
  };
  Start();
  WaitForAll({"a", "b"});
}

TEST_F(EngineOrderTest, AJobThatMustBeAloneIs) {
  Assign("a");
  Assignment alone = Job("b", Spec("b"));
  alone.alone = true;
  engine().Post(alone);
  Assign("c");
  Start();
  WaitForAll({"a", "b", "c"});
  for (const auto& batch : Batches()) {
    EXPECT_TRUE(batch == std::vector<std::string>{"b"} ||
                batch == (std::vector<std::string>{"a", "c"}));
  }
}

TEST_F(EngineOrderTest, OtherPlansAreNeverSteppedTogether) {
  model::GenerationSpec reference = Spec("b");
  reference.kernels.profile = "reference";
  model::GenerationSpec invariant = Spec("c");
  invariant.kernels.profile = "batch_invariant";
  Assign("a");
  engine().Post(Job("b", reference));
  engine().Post(Job("c", invariant));
  engine().Post(Job("d", invariant));
  Start();
  WaitForAll({"a", "b", "c", "d"});
  EXPECT_THAT(Batches(), Each(SizeIs(1)));
}

TEST_F(EngineOrderTest, TheLowestKeyGoesFirst) {
  options_.fill_rows = 1;
  Assign("late", 2);
  Assign("soon", 1);
  Assign("last", 3);
  Start();
  WaitForAll({"late", "soon", "last"});
  std::vector<std::string> order;
  for (const auto& batch : Batches()) {
    if (order.empty() || order.back() != batch[0]) order.push_back(batch[0]);
  }
  EXPECT_THAT(order, ElementsAre("soon", "late", "last"));
}

TEST_F(EngineOrderTest, ANewKeyCountsFromTheNextStep) {
  options_.fill_rows = 1;
  Assign("a", 1);
  Assign("b", 2);
  events_.on_progress = [this](const JobRef& job, Stage stage, int step) {
    if (job.job == "a" && stage == Stage::kDenoise && step == 2) engine().Post(ReorderJob{"b", 0});
  };
  Start();
  WaitForAll({"a", "b"});
  const auto batches = Batches();
  EXPECT_THAT(batches[1], ElementsAre("a"));
  EXPECT_THAT(batches[2], ElementsAre("b"));
}

TEST_F(EngineOrderTest, AJobThatComesLaterJoinsTheBatch) {
  Assign("a");
  events_.on_progress = [this](const JobRef& job, Stage stage, int step) {
    if (job.job == "a" && stage == Stage::kDenoise && step == 2) Assign("b");
  };
  Start();
  WaitForAll({"a", "b"});
  EXPECT_THAT(Batches(), Contains(ElementsAre("a", "b")));
  EXPECT_THAT(Batches(), SizeIs(6));
}

TEST_F(EngineOrderTest, NewcomersOfOneMomentJoinABatchAtItsNextStep) {
  test_card_.step_time = absl::Milliseconds(100);  // longer than their texts
  Assign("a");
  events_.on_progress = [this](const JobRef& job, Stage stage, int step) {
    if (job.job != "a" || stage != Stage::kDenoise || step != 2) return;
    for (const char* other : {"b", "c", "d"}) Assign(other, 1);
  };
  Start();
  WaitForAll({"a", "b", "c", "d"});
  EXPECT_THAT(Batches()[1], ElementsAre("a"));
  EXPECT_THAT(Batches()[2], ElementsAre("a", "b", "c", "d"));
}

TEST_F(EngineOrderTest, AShortJobThatGoesFirstTakesNoTurnsWithALongStep) {
  test_card_.step_time = absl::Milliseconds(100);
  options_.fill_rows = 1;
  engine().Post(Job("long", Spec("long"), 1));
  std::vector<std::string> seen;
  events_.on_progress = [&](const JobRef& job, Stage stage, int step) {
    if (stage == Stage::kDenoise && step > 0) seen.push_back(job.job);
    if (stage == Stage::kEncode) seen.push_back("end of " + job.job);
    if (job.job != "long" || stage != Stage::kDenoise || step != 1) return;
    model::GenerationSpec brief = Spec("short");
    brief.num_inference_steps = 1;
    engine().Post(Job("short", brief, 0));
  };
  Start();
  WaitForAll({"long", "short"});
  EXPECT_THAT(seen,
              ElementsAre("long", "short", "end of short", "long", "long", "long", "end of long"));
}

TEST_F(EngineOrderTest, AFirstStepWaitsForNoFramesOfOthers) {
  test_card_.decode_time_per_frame = absl::Milliseconds(2);
  options_.fill_rows = 1;
  model::GenerationSpec longer = Spec("long");
  longer.num_frames = 97;
  engine().Post(Job("long", longer, 1));
  std::vector<std::string> seen;
  events_.on_progress = [&](const JobRef& job, Stage stage, int step) {
    if (job.job == "short" && stage == Stage::kDenoise && step == 1) seen.push_back("first step");
    if (job.job == "long" && stage == Stage::kEncode) seen.push_back("last frames");
    if (job.job == "long" && stage == Stage::kDecode) Assign("short", 0);
  };
  Start();
  WaitForAll({"long", "short"});
  EXPECT_THAT(seen, ElementsAre("first step", "last frames"));
}

TEST_F(EngineOrderTest, AJobThatHasDoneItsStepsDecodesBetweenThoseOfOthers) {
  test_card_.step_time = absl::Milliseconds(100);  // longer than a piece of frames
  model::GenerationSpec longer = Spec("long");
  longer.num_inference_steps = 12;
  engine().Post(Job("long", longer, 0));
  engine().Post(Job("short", Spec("short"), 1));
  std::vector<std::string> seen;
  events_.on_progress = [&](const JobRef& job, Stage stage, int) {
    if (stage == Stage::kDenoise || stage == Stage::kEncode) seen.push_back(job.job);
  };
  Start();
  WaitForAll({"long", "short"});
  // Of the steps that were left two come between its three pieces of frames.
  const auto last = std::find(seen.rbegin(), seen.rend(), "short");
  const auto after = static_cast<size_t>(last - seen.rbegin());
  EXPECT_THAT(after, 12 - 4 - 2 + 1);  // and the end of its own decode
}

TEST_F(EngineOrderTest, AFullSinkLetsOthersStep) {
  events_.Hold("slow");
  model::GenerationSpec slow = Spec("slow");
  slow.num_frames = 257;
  engine().Post(Job("slow", slow, 0));
  events_.on_progress = [this](const JobRef& job, Stage stage, int) {
    // The other one comes when the first is already decoding, so it steps beside that.
    if (job.job == "slow" && stage == Stage::kDecode) Assign("quick", 1);
  };
  Start();
  ASSERT_TRUE(events_.WaitForHeldMedia("slow"));
  WaitForAll({"quick"});
  EXPECT_FALSE(events_.has_ended("slow"));
  events_.ReleaseAll();
  WaitForAll({"slow"});
}

TEST_F(EngineOrderTest, AParkedJobWaitsAndThenGoesOnExactly) {
  options_.fill_rows = 1;
  Assign("solo", -1);
  Assign("a", 0);
  Assign("b", 1);
  events_.on_progress = [this](const JobRef& job, Stage stage, int step) {
    if (stage != Stage::kDenoise || step != 2) return;
    if (job.job == "a") engine().Post(ParkJob{"a", true});
    if (job.job == "b") engine().Post(ResumeJob{"a"});
  };
  Start();
  WaitForAll({"solo", "a", "b"});
  ASSERT_TRUE(events_.WaitForParked("a"));
  std::vector<std::string> order;
  for (const auto& batch : Batches()) order.push_back(batch[0]);
  EXPECT_THAT(std::vector<std::string>(order.begin() + 4, order.end()),
              ElementsAre("a", "a", "b", "b", "a", "a", "b", "b"));
}

TEST_F(EngineOrderTest, AJobThatOnlyDecodesIsNotParked) {
  Assign("a", 0);
  events_.on_progress = [this](const JobRef& job, Stage stage, int) {
    if (job.job == "a" && stage == Stage::kDecode) engine().Post(ParkJob{"a", true});
  };
  Start();
  WaitForAll({"a"});
  EXPECT_EQ(events_.parked_bytes("a"), -1);
}

TEST_F(EngineOrderTest, ADrainGoesOnWithWhatIsParked) {
  Assign("a", 0);
  events_.on_progress = [this](const JobRef&, Stage stage, int step) {
    if (stage != Stage::kDenoise || step != 2) return;
    engine().Post(ParkJob{"a", true});
    engine().Post(DrainEngine{absl::Seconds(60)});
  };
  Start();
  WaitForAll({"a"});
  Join();
  EXPECT_TRUE(events_.drained());
}

TEST_F(EngineOrderTest, AParkedJobCanBeCancelled) {
  Assign("a", 0);
  events_.on_progress = [this](const JobRef&, Stage stage, int step) {
    if (stage == Stage::kDenoise && step == 2) engine().Post(ParkJob{"a", false});
  };
  Start();
  ASSERT_TRUE(events_.WaitForParked("a"));
  EXPECT_GT(events_.parked_bytes("a"), 0);
  engine().Post(CancelJob{"a"});
  ASSERT_TRUE(events_.WaitForEnd("a"));
  EXPECT_TRUE(absl::IsCancelled(events_.ended("a").error)) << events_.ended("a").error;
}

TEST_F(EngineOrderTest, WhatIsParkedLeavesADeviceThatHasNoMemoryLeft) {
  test_card_.faults = {{"oom", 1, "b", 1}};
  options_.fill_rows = 1;
  Assign("a", 0);
  Assign("b", 1);
  events_.on_progress = [this](const JobRef& job, Stage stage, int step) {
    if (stage == Stage::kDenoise && job.job == "a" && step == 2) {
      engine().Post(ParkJob{"a", false});
    }
    if (stage == Stage::kDenoise && job.job == "b" && step == 1) {
      EXPECT_GT(events_.parked_bytes("a"), 0);
    }
    if (stage == Stage::kDenoise && job.job == "b" && step == 2) {
      EXPECT_EQ(events_.parked_bytes("a"), 0);
      engine().Post(ResumeJob{"a"});
    }
  };
  Start();
  WaitForAll({"a", "b"});
}

}  // namespace
}  // namespace reel::worker
