// SPDX-License-Identifier: Apache-2.0
// Steps that are made in pieces, and what may happen in the middle of one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "server/errors/error.h"
#include "tests/unit/server/worker/engine/engine_fixture.h"
#include "tests/unit/server/worker/engine/fake_timer.h"

namespace reel::worker {
namespace {

using model::Stage;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class EngineLongStepsTest : public EngineTest {
 protected:
  EngineLongStepsTest() {
    options_.long_step = absl::ZeroDuration();
    options_.fill_rows = 1;
    // Read before and after each piece: what a test does at the end of a piece comes before the
    // next one.
    options_.read_memory = [this] {
      if (++reads_ == 2 && in_middle_ != nullptr) std::exchange(in_middle_, nullptr)();
      return model::DeviceMemory();
    };
    events_.on_progress = [this](const JobRef& job, Stage stage, int step) {
      if (stage == Stage::kDenoise && step > 0) {
        seen_.push_back(job.job + " " + std::to_string(step));
      }
      if (job.job == "long" && stage == Stage::kDenoise && step == 1) {
        in_middle_ = std::move(in_middle_of_second_);
        reads_ = 0;
      }
    };
  }
  // Posts a job of so many steps that goes before "long", which comes with 1.
  void AssignAhead(const std::string& name, int steps) {
    model::GenerationSpec spec = Spec(name);
    spec.num_inference_steps = steps;
    engine().Post(Job(name, spec, 0));
  }
  void Succeeds(const std::string& job) {
    ASSERT_TRUE(events_.WaitForEnd(job)) << job;
    EXPECT_TRUE(events_.ended(job).error.ok()) << job << events_.ended(job).error;
  }

  // Once, on the engine's thread, in the middle of the second step of "long".
  std::function<void()> in_middle_of_second_;
  std::vector<std::string> seen_;
  int reads_ = 0;  // of the memory; two for each piece

 private:
  std::function<void()> in_middle_;
};

TEST_F(EngineLongStepsTest, AShortJobIsDoneInTheMiddleOfAStepOfALongOne) {
  in_middle_of_second_ = [this] { AssignAhead("short", 2); };
  Assign("long", 1);
  Start();
  Succeeds("long");
  Succeeds("short");
  EXPECT_THAT(seen_, ElementsAre("long 1", "short 1", "short 2", "long 2", "long 3", "long 4"));
}

TEST_F(EngineLongStepsTest, AJobThatComesLaterInTheOrderWaitsForTheWholeStep) {
  in_middle_of_second_ = [this] { engine().Post(Job("late", Spec("late"), 2)); };
  Assign("long", 1);
  Start();
  Succeeds("long");
  Succeeds("late");
  EXPECT_THAT(std::vector<std::string>(seen_.begin(), seen_.begin() + 4),
              ElementsAre("long 1", "long 2", "long 3", "long 4"));
}

TEST_F(EngineLongStepsTest, AStepThatWasInterruptedIsChargedForItselfAlone) {
  test_card_.step_time = absl::Milliseconds(40);
  in_middle_of_second_ = [this] { AssignAhead("short", 4); };
  Assign("long", 1);
  Start();
  Succeeds("long");
  Succeeds("short");
  const model::RunStats stats = events_.ended("long").result.stats;
  absl::Duration waited;
  for (const model::PartTime& part : stats.parts) {
    if (part.part == model::RunPart::kWait) waited = part.time;
  }
  EXPECT_GE(waited, absl::Milliseconds(160));
  for (const StepSample& step : events_.steps()) EXPECT_LT(step.duration, waited);
}

TEST_F(EngineLongStepsTest, ACancelEndsAJobInTheMiddleOfItsStep) {
  in_middle_of_second_ = [this] { engine().Post(CancelJob{"long"}); };
  Assign("long", 1);
  Start();
  ASSERT_TRUE(events_.WaitForEnd("long"));
  EXPECT_EQ(ReasonOf(events_.ended("long").error), Reason::kCancelledByOwner);
  EXPECT_THAT(seen_, ElementsAre("long 1"));
}

TEST_F(EngineLongStepsTest, WhoSharedTheStepOfAJobThatLeftMakesItAnew) {
  options_.fill_rows = 1000;
  in_middle_of_second_ = [this] { engine().Post(CancelJob{"long"}); };
  Assign("long", 1);
  Assign("other", 1);
  Start();
  Succeeds("other");
  EXPECT_THAT(seen_, ElementsAre("long 1", "other 1", "other 2", "other 3", "other 4"));
  EXPECT_THAT(events_.steps(), SizeIs(4));
}

class EngineParkingInAStepTest : public EngineLongStepsTest {
 protected:
  // "long" is parked in the middle of its second step until another job has stepped. The pieces
  // that it takes from there to the end of that step.
  int PiecesAfter(bool to_host) {
    in_middle_of_second_ = [this, to_host] {
      engine().Post(ParkJob{"long", to_host});
      engine().Post(Job("other", Spec("other"), 2));
    };
    int begun = 0, ended = 0;
    events_.on_progress = [&, told = events_.on_progress](const JobRef& job, Stage stage,
                                                          int step) {
      told(job, stage, step);
      if (stage != Stage::kDenoise) return;
      if (job.job == "other" && step == 1) {
        engine().Post(ResumeJob{"long"});
        begun = reads_;
      }
      if (job.job == "long" && step == 2) ended = reads_;
    };
    Assign("long", 1);
    Start();
    Succeeds("long");
    Succeeds("other");
    EXPECT_EQ(seen_[1], "other 1");
    EXPECT_EQ(seen_[2], "long 2");
    EXPECT_EQ(events_.parked_bytes("long") == 0, to_host);
    return (ended - begun) / 2;
  }
};

TEST_F(EngineParkingInAStepTest, GoesOnWhereItStoodWhenItsMemoryStays) {
  EXPECT_EQ(PiecesAfter(/*to_host=*/false), 1);
}

TEST_F(EngineParkingInAStepTest, IsMadeAnewWhenItsMemoryGoes) {
  EXPECT_EQ(PiecesAfter(/*to_host=*/true), 2);
}

TEST_F(EngineLongStepsTest, ANewcomerWithoutMemoryHasTheStepMadeAnewAndBothFinish) {
  test_card_.faults = {{.kind = "oom", .step = 1, .prompt_contains = "short", .times = 1}};
  in_middle_of_second_ = [this] { AssignAhead("short", 1); };
  Assign("long", 1);
  Start();
  Succeeds("long");
  Succeeds("short");
}

TEST_F(EngineLongStepsTest, OperatorsOfAStepThatWasInterruptedAreNotTold) {
  FakeTimer timer;
  options_.timer = &timer;
  in_middle_of_second_ = [this] { AssignAhead("short", 1); };
  Assign("long", 1);
  Start();
  Succeeds("long");
  Succeeds("short");
  std::vector<size_t> timed;  // operators of each step of "long"
  for (const StepSample& step : events_.steps()) {
    if (step.jobs == std::vector<std::string>{"long"}) timed.push_back(step.kernels.size());
  }
  ASSERT_THAT(timed, SizeIs(4));
  EXPECT_EQ(timed[1], 0u);
  // It is owed one, and has it.
  EXPECT_EQ(events_.ended("long").result.stats.timed_steps, 1);
  Stop();
}

TEST_F(EngineLongStepsTest, ADrainThatRunsOutOfTimeInTheMiddleOfAStepEnds) {
  in_middle_of_second_ = [this] { engine().Post(DrainEngine{absl::ZeroDuration()}); };
  Assign("long", 1);
  Start();
  Join();
  EXPECT_TRUE(events_.drained());
}

}  // namespace
}  // namespace reel::worker
