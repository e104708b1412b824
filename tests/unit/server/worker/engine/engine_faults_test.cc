// SPDX-License-Identifier: Apache-2.0
// Cancels, deadlines, drains, and models that go wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "kernels/dispatch/device_gone.h"
#include "server/errors/error.h"
#include "tests/unit/server/worker/engine/engine_fixture.h"

namespace reel::worker {
namespace {

using model::Stage;
using ::testing::SizeIs;

class EngineFaultsTest : public EngineTest {
 protected:
  // At its first step, of jobs whose prompt is their name.
  void Fault(const std::string& kind, const std::string& job, int times = 0, int step = 1) {
    test_card_.faults.push_back({kind, step, job, times});
  }
  std::optional<Reason> ReasonFor(const std::string& job) {
    EXPECT_TRUE(events_.WaitForEnd(job)) << job;
    return ReasonOf(events_.ended(job).error);
  }
  void ExpectFinished(const std::string& job) {
    ASSERT_TRUE(events_.WaitForEnd(job)) << job;
    EXPECT_TRUE(events_.ended(job).error.ok()) << job << events_.ended(job).error;
  }
  template <typename Command>
  void AtStep(const std::string& name, int step, Command command) {
    events_.on_progress = [this, name, step, command](const JobRef& job, Stage stage, int done) {
      if (job.job == name && stage == Stage::kDenoise && done == step) engine().Post(command);
    };
  }
};

TEST_F(EngineFaultsTest, ACancelIsCarriedOutBeforeTheNextStep) {
  AtStep("a", 2, CancelJob{"a"});
  Assign("a");
  Start();
  EXPECT_EQ(ReasonFor("a"), Reason::kCancelledByOwner);
  EXPECT_EQ(events_.ended("a").error.code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(events_.steps(), SizeIs(2));
  EXPECT_FALSE(events_.ended("a").suspect);
}

TEST_F(EngineFaultsTest, ACancelLeavesTheRestOfTheBatchAlone) {
  AtStep("a", 2, CancelJob{"a"});
  Assign("a");
  Assign("b");
  Start();
  EXPECT_EQ(ReasonFor("a"), Reason::kCancelledByOwner);
  ExpectFinished("b");
}

TEST_F(EngineFaultsTest, ACancelDoesNotWaitForAnEncoderThatIsHeld) {
  events_.Hold("a");
  Assign("a");
  Start();
  ASSERT_TRUE(events_.WaitForHeldMedia("a"));
  engine().Post(CancelJob{"a"});
  EXPECT_EQ(ReasonFor("a"), Reason::kCancelledByOwner);
  Assign("b");
  ExpectFinished("b");
}

TEST_F(EngineFaultsTest, ACancelOfNobodyIsNoError) {
  engine().Post(CancelJob{"nobody"});
  engine().Post(ReorderJob{"nobody", 1});
  engine().Post(ParkJob{"nobody"});
  engine().Post(ResumeJob{"nobody"});
  Assign("a");
  Start();
  ExpectFinished("a");
}

TEST_F(EngineFaultsTest, ACancelledParkedJobIsGone) {
  AtStep("a", 1, ParkJob{"a"});
  Assign("a");
  Start();
  ASSERT_TRUE(events_.WaitForParked("a"));
  engine().Post(CancelJob{"a"});
  EXPECT_EQ(ReasonFor("a"), Reason::kCancelledByOwner);
}

TEST_F(EngineFaultsTest, APassedDeadlineEndsAJobBetweenSteps) {
  test_card_.step_time = absl::Milliseconds(40);
  Assignment job = Job("a", Spec("a"));
  job.time_left = absl::Milliseconds(100);
  engine().Post(job);
  Start();
  EXPECT_EQ(ReasonFor("a"), Reason::kDeadlinePassed);
  EXPECT_EQ(events_.ended("a").error.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_LT(events_.steps().size(), 4u);
}

TEST_F(EngineFaultsTest, ADeadlineWakesAnEngineThatSleeps) {
  events_.Hold("a");
  Assignment job = Job("a", Spec("a"));
  job.time_left = absl::Milliseconds(500);
  engine().Post(job);
  Start();
  EXPECT_EQ(ReasonFor("a"), Reason::kDeadlinePassed);
}

TEST_F(EngineFaultsTest, AHopelessJobTakesNoStep) {
  Assignment job = Job("a", Spec("a"));
  job.time_left = absl::ZeroDuration();
  engine().Post(job);
  Start();
  EXPECT_EQ(ReasonFor("a"), Reason::kDeadlinePassed);
  EXPECT_THAT(events_.steps(), SizeIs(0));
}

TEST_F(EngineFaultsTest, ABatchOutOfMemoryIsSplitAndEverybodyFinishes) {
  Fault("oom", "b", 1);
  for (const char* job : {"a", "b", "c"}) Assign(job);
  Start();
  for (const char* job : {"a", "b", "c"}) ExpectFinished(job);
  const auto steps = events_.steps();
  EXPECT_THAT(steps[0].jobs, SizeIs(3));
  for (size_t i = 2; i < steps.size(); ++i) EXPECT_THAT(steps[i].jobs, SizeIs(1));
}

TEST_F(EngineFaultsTest, OutOfMemoryInAStepAloneBlamesNobodyWhileOthersAreHeld) {
  Fault("oom", "b");
  for (const char* job : {"a", "b", "c"}) Assign(job);
  Start();
  ExpectFinished("a");
  ExpectFinished("c");
  EXPECT_EQ(ReasonFor("b"), Reason::kOutOfDeviceMemory);
  EXPECT_FALSE(events_.ended("b").suspect) << "the front tries it again, with nobody else";
  Assign("b2");
  EXPECT_EQ(ReasonFor("b2"), Reason::kOutOfDeviceMemory);
  EXPECT_TRUE(events_.ended("b2").suspect);
  EXPECT_FALSE(events_.ended("b2").device_lost);
  Assign("d");
  ExpectFinished("d");
}

// The first to meet a lost device was another vendor's library, which said something else.
TEST_F(EngineFaultsTest, AnErrorThatHidesALostDeviceIsALostDevice) {
  options_.probe_device = [] { return absl::AbortedError("an illegal memory access"); };
  Fault("nan", "b");
  Assign("b");
  Start();
  EXPECT_EQ(ReasonFor("b"), Reason::kWorkerFault);
  EXPECT_TRUE(events_.ended("b").device_lost);
  Join();
  EXPECT_TRUE(events_.device_lost().has_value());
}

TEST_F(EngineFaultsTest, AnErrorOfADeviceThatWorksIsTheJobs) {
  std::atomic<int> probed = 0;
  options_.probe_device = [&] {
    ++probed;
    return absl::OkStatus();
  };
  Fault("nan", "b");
  Assign("b");
  Start();
  EXPECT_EQ(ReasonFor("b"), Reason::kNumericalFault);
  EXPECT_EQ(probed, 1);
  Assign("c");
  ExpectFinished("c");
  Stop();
}

TEST_F(EngineFaultsTest, BadNumbersEndTheirJobAndSendNothing) {
  Fault("nan", "b");
  Assign("a");
  Assign("b");
  Start();
  ExpectFinished("a");
  EXPECT_EQ(ReasonFor("b"), Reason::kNumericalFault);
  EXPECT_TRUE(events_.ended("b").suspect);
  EXPECT_EQ(events_.file("b"), "");
}

TEST_F(EngineFaultsTest, ADeviceLostInASharedStepBlamesNobody) {
  Fault("sticky", "b");
  Assign("a");
  Assign("b");
  Start();
  Join();
  EXPECT_EQ(events_.device_lost()->code(), absl::StatusCode::kAborted);
  EXPECT_FALSE(events_.has_ended("a"));
  EXPECT_FALSE(events_.has_ended("b"));
  EXPECT_FALSE(events_.drained());
}

TEST_F(EngineFaultsTest, ADeviceLostUnderALonelyJobBlamesIt) {
  Fault("sticky", "b");
  Assignment job = Job("b", Spec("b"));
  job.alone = true;
  engine().Post(job);
  Assign("a", 1);
  Start();
  Join();
  EXPECT_TRUE(events_.device_lost());
  EXPECT_EQ(ReasonFor("b"), Reason::kWorkerFault);
  EXPECT_TRUE(events_.ended("b").suspect);
  EXPECT_TRUE(events_.ended("b").device_lost);
  EXPECT_FALSE(events_.has_ended("a"));
}

TEST_F(EngineFaultsTest, ADeviceThatIsGoneBlamesNobody) {
  Fault("lost", "b");
  Assign("b");
  Start();
  Join();
  EXPECT_TRUE(kernels::IsDeviceGone(*events_.device_lost()));
  EXPECT_FALSE(events_.has_ended("b"));
}

TEST_F(EngineFaultsTest, ADrainFinishesWhatIsHeldAndTakesNoMore) {
  Assign("a");
  Assign("b");
  engine().Post(DrainEngine{absl::Minutes(5)});
  Assign("late");
  Start();
  Join();
  EXPECT_TRUE(events_.drained());
  ExpectFinished("a");
  ExpectFinished("b");
  EXPECT_EQ(ReasonFor("late"), Reason::kServerDraining);
}

TEST_F(EngineFaultsTest, ADrainThatTakesTooLongLeavesAnyway) {
  events_.Hold("a");
  Assign("a");
  Start();
  ASSERT_TRUE(events_.WaitForHeldMedia("a"));
  engine().Post(DrainEngine{absl::Milliseconds(50)});
  Join();
  EXPECT_TRUE(events_.drained());
  EXPECT_FALSE(events_.has_ended("a"));
}

TEST_F(EngineFaultsTest, StoppingInTheMiddleLeaksNothing) {
  for (int i = 0; i < 8; ++i) Assign(std::to_string(i));
  Start();
  ASSERT_TRUE(events_.WaitForStep("3", 1));
  Stop();
  EXPECT_FALSE(events_.drained());
}

TEST_F(EngineFaultsTest, ErrorsTellHowFarTheJobCame) {
  AtStep("a", 3, CancelJob{"a"});
  Assign("a");
  Start();
  ASSERT_TRUE(events_.WaitForEnd("a"));
  const std::string details = SerializeError(events_.ended("a").error);
  EXPECT_THAT(details, testing::HasSubstr("steps_done"));
  EXPECT_THAT(details, testing::HasSubstr("videos/a"));
}

}  // namespace
}  // namespace reel::worker
