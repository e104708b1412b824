// SPDX-License-Identifier: Apache-2.0
// The pool and workers that do not behave: how a loss is seen, named, reported once, and cured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "server/front/workers/worker_host.h"
#include "tests/fakes/fake_launcher.h"
#include "tests/fakes/recording_events.h"

namespace reel::front {
namespace {

using Heard = RecordingEvents::Heard;

class WorkerLossTest : public testing::Test {
 protected:
  WorkerLossTest() {
    options_.workers = {{.name = "w0", .device = "cpu", .models = {}}};
    options_.models.resize(1);
    options_.models[0].name = "m";
    options_.watch_interval = absl::Milliseconds(2);
    options_.exit_grace = absl::Milliseconds(20);
    options_.restart.first_wait = absl::Milliseconds(1);
    options_.restart.longest_wait = absl::Milliseconds(2);
  }

  void Start(const FakeScript& script = {}) {
    auto launcher = std::make_unique<FakeLauncher>(script);
    launcher_ = launcher.get();
    host_ = std::make_unique<WorkerHost>(options_, std::move(launcher));
    ASSERT_TRUE(host_->Start(events_).ok());
  }
  void StartReady(const FakeScript& script = {}) {
    Start(script);
    events_.WaitForState("w0", WorkerState::kReady);
  }
  LossCause WaitForLoss(size_t n = 1) {
    events_.WaitUntil([&](const Heard& heard) { return heard.losses.size() >= n; });
    return events_.Take().losses.at(n - 1).second;
  }
  // Ends its process so often, each time once it runs, and waits until that is known.
  void Lose(int times, int status, int signal) {
    for (int loss = 1; loss <= times; ++loss) {
      launcher_->WaitForLaunch(loss);
      launcher_->End(loss, status, signal);
      WaitForLoss(static_cast<size_t>(loss));
    }
  }
  void WaitForReady(int restarts) {
    events_.WaitUntil([&](const Heard& heard) {
      const auto found = heard.workers.find("w0");
      return found != heard.workers.end() && found->second.state == WorkerState::kReady &&
             found->second.restarts >= restarts;
    });
  }

  WorkerPoolOptions options_;
  RecordingEvents events_;
  FakeLauncher* launcher_ = nullptr;  // the host's
  std::unique_ptr<WorkerHost> host_;
};

TEST_F(WorkerLossTest, NamesTheCauseOfEachEnd) {
  options_.restart.max_losses = 100;
  struct End {
    int status, signal;
    LossCause cause;
  };
  StartReady();
  size_t losses = 0;
  for (const End end : {End{0, SIGKILL, LossCause::kKilled}, End{0, SIGTERM, LossCause::kKilled},
                        End{0, SIGSEGV, LossCause::kExit}, End{1, 0, LossCause::kExit},
                        End{0, 0, LossCause::kExit}, End{42, 0, LossCause::kSticky}}) {
    launcher_->WaitForLaunch(static_cast<int>(losses) + 1);
    launcher_->End(static_cast<int>(losses) + 1, end.status, end.signal);
    EXPECT_EQ(WaitForLoss(++losses), end.cause) << end.status << " " << end.signal;
  }
}

TEST_F(WorkerLossTest, StartsAgainAndServesAgain) {
  StartReady();
  launcher_->End(1, 0, SIGKILL);
  WaitForReady(1);
  Assignment job;
  job.ref.job = "after";
  host_->Assign("w0", job);
  events_.WaitForLine("finished after.1");
  EXPECT_EQ(events_.Take().losses.size(), 1u);
}

TEST_F(WorkerLossTest, ReportsNothingOfAJobAfterItsWorkerIsLost) {
  FakeScript script;
  script.steps = 1000000;
  StartReady(script);
  Assignment job;
  job.ref.job = "j";
  host_->Assign("w0", job);
  events_.WaitForLine("progress j.1 100/1000000");
  launcher_->End(1, 0, SIGKILL);
  WaitForReady(1);
  const auto log = events_.Take().log;
  const auto lost = std::ranges::find(log, "lost w0 0");
  ASSERT_NE(lost, log.end());
  EXPECT_TRUE(std::none_of(lost, log.end(),
                           [](const std::string& line) { return line.starts_with("progress"); }));
  EXPECT_EQ(std::ranges::count(log, "lost w0 0"), 1);
}

TEST_F(WorkerLossTest, KillsAWorkerWhoseStreamBroke) {
  StartReady();
  launcher_->WaitForLaunch(1)->Vanish();
  EXPECT_EQ(WaitForLoss(), LossCause::kExit);
  WaitForReady(1);
  EXPECT_EQ(launcher_->launches(), 2);
}

TEST_F(WorkerLossTest, BelievesTheStatusOfAWorkerThatEndedBeforeItWasKilled) {
  options_.exit_grace = absl::ZeroDuration();
  StartReady();
  launcher_->IgnoreKills(true);
  const auto worker = launcher_->WaitForLaunch(1);
  worker->Vanish();
  launcher_->PassWaits(20);  // by then it has been killed
  launcher_->IgnoreKills(false);
  launcher_->End(1, 42, 0);
  EXPECT_EQ(WaitForLoss(), LossCause::kSticky);
}

TEST_F(WorkerLossTest, KillsASilentWorker) {
  options_.heartbeat_timeout = absl::Milliseconds(100);
  StartReady();
  launcher_->WaitForLaunch(1)->SetHeartbeat(absl::ZeroDuration(), absl::ZeroDuration());
  EXPECT_EQ(WaitForLoss(), LossCause::kHeartbeat);
}

TEST_F(WorkerLossTest, SilenceWhileReeldStoodStillIsNoSilence) {
  options_.heartbeat_timeout = absl::Milliseconds(700);
  StartReady();
  const auto worker = launcher_->WaitForLaunch(1);
  worker->SetHeartbeat(absl::ZeroDuration(), absl::ZeroDuration());
  launcher_->StopSupervisor(absl::Milliseconds(1200));
  worker->SetHeartbeat(absl::Milliseconds(5), absl::ZeroDuration());
  launcher_->PassWaits(20);
  EXPECT_TRUE(events_.Take().losses.empty());
  // It still counts once reeld runs.
  worker->SetHeartbeat(absl::ZeroDuration(), absl::ZeroDuration());
  EXPECT_EQ(WaitForLoss(), LossCause::kHeartbeat);
}

TEST_F(WorkerLossTest, AStepIsNotChargedTheTimeInWhichReeldStoodStill) {
  StartReady();
  host_->SetStepLimit("w0", absl::Seconds(1));
  const auto worker = launcher_->WaitForLaunch(1);
  worker->SetHeartbeat(absl::ZeroDuration(), absl::ZeroDuration());
  const auto send_in_step = [&](int millis) {
    FakeWorker::Report beat;
    beat.mutable_heartbeat()->mutable_in_step()->set_seconds(millis / 1000);
    beat.mutable_heartbeat()->mutable_in_step()->set_nanos(millis % 1000 * 1'000'000);
    ASSERT_TRUE(worker->Send(beat));
  };
  launcher_->StopSupervisor(absl::Milliseconds(1500));
  send_in_step(1600);  // the worker stood still, too, or it did not: who can tell
  launcher_->PassWaits(20);
  EXPECT_TRUE(events_.Take().losses.empty());
  send_in_step(4000);
  EXPECT_EQ(WaitForLoss(), LossCause::kHang);
}

TEST_F(WorkerLossTest, KillsAWorkerThatNeverSaysHello) {
  options_.hello_timeout = absl::Milliseconds(50);
  FakeScript script;
  script.token = "wrong";
  Start(script);
  EXPECT_EQ(WaitForLoss(), LossCause::kHeartbeat);
}

TEST_F(WorkerLossTest, KillsAWorkerWhoseStepTakesTooLong) {
  StartReady();
  launcher_->WaitForLaunch(1)->SetHeartbeat(absl::Milliseconds(5), absl::Seconds(9));
  host_->SetStepLimit("w0", absl::Seconds(10));
  launcher_->PassWaits(20);
  EXPECT_TRUE(events_.Take().losses.empty());
  host_->SetStepLimit("w0", absl::Seconds(8));
  EXPECT_EQ(WaitForLoss(), LossCause::kHang);
}

TEST_F(WorkerLossTest, ForgetsTheStepLimitOfTheOneBefore) {
  FakeScript script;
  script.heartbeat = absl::Milliseconds(5);
  script.in_step = absl::Seconds(9);
  StartReady(script);
  host_->SetStepLimit("w0", absl::Seconds(8));
  EXPECT_EQ(WaitForLoss(), LossCause::kHang);
  WaitForReady(1);
  launcher_->PassWaits(20);
  EXPECT_EQ(events_.Take().losses.size(), 1u);
}

TEST_F(WorkerLossTest, TakesAWorkerOutAfterFiveLossesOfItsOwnMaking) {
  Start();
  Lose(5, 42, 0);
  events_.WaitForState("w0", WorkerState::kOut);
  EXPECT_EQ(host_->Workers().at(0).out, OutReason::kFaults);
  launcher_->PassWaits(20);
  EXPECT_EQ(launcher_->launches(), 5);
}

TEST_F(WorkerLossTest, KeepsStartingAWorkerThatOthersKill) {
  Start();
  Lose(12, 0, SIGKILL);
  WaitForReady(12);
}

TEST_F(WorkerLossTest, TakesAWorkerOutAtOnceWhenItsDeviceIsGone) {
  StartReady();
  launcher_->End(1, 43, 0);
  EXPECT_EQ(WaitForLoss(), LossCause::kDevice);
  events_.WaitForState("w0", WorkerState::kOut);
  EXPECT_EQ(host_->Workers().at(0).out, OutReason::kDevice);
  launcher_->PassWaits(20);
  EXPECT_EQ(launcher_->launches(), 1);
}

TEST_F(WorkerLossTest, AWorkerThatIsOutStartsAgainWhenItIsRestored) {
  StartReady();
  launcher_->End(1, 43, 0);
  events_.WaitForState("w0", WorkerState::kOut);
  host_->Restore("w0");
  WaitForReady(1);
  EXPECT_EQ(launcher_->launches(), 2);
  EXPECT_EQ(host_->Workers().at(0).out, OutReason::kNone);
}

TEST_F(WorkerLossTest, ARestoredWorkerHasItsFiveLossesAgain) {
  Start();
  Lose(5, 42, 0);
  events_.WaitForState("w0", WorkerState::kOut);
  host_->Restore("w0");
  launcher_->WaitForLaunch(6);
  launcher_->End(6, 42, 0);
  WaitForLoss(6);
  launcher_->WaitForLaunch(7);
}

TEST_F(WorkerLossTest, RestoringOneThatIsNotOutChangesNothing) {
  StartReady();
  host_->Restore("w0");
  host_->Restore("nobody");
  launcher_->PassWaits(20);
  EXPECT_EQ(launcher_->launches(), 1);
  EXPECT_TRUE(events_.Take().losses.empty());
}

TEST_F(WorkerLossTest, TriesAgainWhenAProcessCannotBeStarted) {
  auto launcher = std::make_unique<FakeLauncher>();
  launcher->FailLaunches(3);
  host_ = std::make_unique<WorkerHost>(options_, std::move(launcher));
  ASSERT_TRUE(host_->Start(events_).ok());
  events_.WaitForState("w0", WorkerState::kReady);
  EXPECT_TRUE(events_.Take().losses.empty());
}

TEST_F(WorkerLossTest, WaitsBeforeItStartsAgain) {
  options_.restart.first_wait = absl::Milliseconds(300);
  options_.restart.longest_wait = absl::Seconds(30);
  options_.restart.jitter = 0;
  StartReady();
  const absl::Time before = absl::Now();
  launcher_->End(1, 0, SIGKILL);
  launcher_->WaitForLaunch(2);
  EXPECT_GE(absl::Now() - before, absl::Milliseconds(300));
}

TEST_F(WorkerLossTest, LosesOneWorkerAlone) {
  options_.workers.push_back({.name = "w1", .device = "cpu", .models = {}});
  StartReady();
  events_.WaitForState("w1", WorkerState::kReady);
  launcher_->End(1, 0, SIGKILL);
  WaitForReady(1);
  const auto heard = events_.Take();
  EXPECT_EQ(heard.losses.size(), 1u);
  EXPECT_EQ(heard.losses[0].first, "w0");
  EXPECT_EQ(heard.workers.at("w1").restarts, 0);
}

}  // namespace
}  // namespace reel::front
