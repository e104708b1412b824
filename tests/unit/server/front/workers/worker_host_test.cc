// SPDX-License-Identifier: Apache-2.0
// The pool and workers that behave: who is let in, what they are told, what they report.
#include "server/front/workers/worker_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>

#include "tests/fakes/fake_launcher.h"
#include "tests/fakes/recording_events.h"

namespace reel::front {
namespace {

using testing::ElementsAre;
using Command = FakeWorker::Command;

class WorkerHostTest : public testing::Test {
 protected:
  WorkerHostTest() {
    options_.workers = {{.name = "w0", .device = "cpu", .models = {}}};
    options_.models.resize(2);
    options_.models[0].name = "first";
    options_.models[1].name = "second";
    options_.models[1].path = "/models/second";
    options_.fill_rows = 1234;
    options_.encoder_threads = 3;
    options_.kernel_sample_every = 7;
    options_.watch_interval = absl::Milliseconds(5);
    options_.restart.first_wait = absl::Milliseconds(1);
    options_.restart.longest_wait = absl::Milliseconds(2);
  }
  ~WorkerHostTest() override { events_.HoldMedia(false); }

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
  static Assignment Job(const std::string& name, const std::string& prompt = "") {
    Assignment assignment;
    assignment.ref.job = name;
    assignment.spec.prompt = prompt;
    assignment.time_left = absl::InfiniteDuration();
    return assignment;
  }
  // Lines of the log that concern jobs.
  std::vector<std::string> JobLines() {
    auto lines = events_.Take().log;
    std::erase_if(lines, [](const std::string& line) {
      return line.starts_with("worker") || line.starts_with("model");
    });
    return lines;
  }

  WorkerPoolOptions options_;
  RecordingEvents events_;
  FakeLauncher* launcher_ = nullptr;  // the host's
  std::unique_ptr<WorkerHost> host_;
};

TEST_F(WorkerHostTest, ConfiguresAWorkerBeforeAnythingElse) {
  StartReady();
  const auto received = launcher_->WaitForLaunch(1)->Received();
  ASSERT_EQ(received.size(), 1u);
  const worker::v1::Configure& configure = received[0].configure();
  ASSERT_EQ(configure.models_size(), 2);
  EXPECT_EQ(configure.models(0).model(), "first");
  EXPECT_TRUE(configure.models(0).has_test_card());
  EXPECT_EQ(configure.models(1).path(), "/models/second");
  EXPECT_EQ(configure.fill_rows(), 1234);
  EXPECT_EQ(configure.encoder_threads(), 3);
  EXPECT_EQ(configure.kernel_sample_every(), 7);
}

TEST_F(WorkerHostTest, TakesTheKernelsOfHelloWhereNoPluginsAreConfigured) {
  FakeScript script;
  script.lists_kernels = true;
  StartReady(script);
  ASSERT_EQ(host_->Workers().front().kernels.size(), 1u);
  EXPECT_EQ(host_->Workers().front().kernels[0].variants[0].name, "loops");
}

TEST_F(WorkerHostTest, WithPluginsItWaitsForTheListAndKeepsItOverARestart) {
  options_.plugins = {{"mine", "/root", "folder", "abc"}};
  FakeScript script;
  script.lists_kernels = true;
  StartReady(script);
  const auto worker = launcher_->WaitForLaunch(1);
  const worker::v1::Plugin plugin = worker->Received().front().configure().plugins(0);
  EXPECT_EQ(plugin.name() + plugin.root() + plugin.folder() + plugin.sha256(),
            "mine/rootfolderabc");
  EXPECT_TRUE(host_->Workers().front().kernels.empty());

  FakeWorker::Report report;
  v1::KernelOp& op = *report.mutable_kernels()->add_kernels();
  op.set_op("rms_norm");
  op.add_variants()->set_name("mine");
  v1::KernelPlugin& listed = *report.mutable_kernels()->add_plugins();
  listed.set_name("mine");
  listed.add_support()->set_loaded(true);
  ASSERT_TRUE(worker->Send(report));
  events_.WaitUntil([](const auto& heard) { return !heard.workers.at("w0").kernels.empty(); });
  EXPECT_EQ(host_->Workers().front().kernels[0].variants[0].name, "mine");
  EXPECT_TRUE(host_->Workers().front().plugins[0].loaded);

  worker->Vanish();
  launcher_->WaitForLaunch(2);
  events_.WaitUntil([](const auto& heard) {
    const WorkerInfo& info = heard.workers.at("w0");
    return info.restarts == 1 && info.state == WorkerState::kReady;
  });
  EXPECT_EQ(host_->Workers().front().kernels[0].variants[0].name, "mine");
}

TEST_F(WorkerHostTest, GivesAWorkerOnlyItsOwnModels) {
  options_.workers[0].models = {"second"};
  StartReady();
  const auto received = launcher_->WaitForLaunch(1)->Received();
  ASSERT_EQ(received.at(0).configure().models_size(), 1);
  EXPECT_EQ(received[0].configure().models(0).model(), "second");
}

TEST_F(WorkerHostTest, ReportsModelsBeforeTheWorkerIsReady) {
  StartReady();
  const auto heard = events_.Take();
  const auto at = [&](const std::string& line) { return std::ranges::find(heard.log, line); };
  EXPECT_LT(at("model w0 first"), at("model w0 second"));
  EXPECT_LT(at("model w0 second"), at("worker w0 1"));
  EXPECT_EQ(heard.workers.at("w0").device, "fake cpu");
  EXPECT_THAT(heard.workers.at("w0").models, ElementsAre("first", "second"));
  EXPECT_THAT(host_->Workers().at(0).models, ElementsAre("first", "second"));
}

TEST_F(WorkerHostTest, ServesWithTheModelsThatLoaded) {
  FakeScript script;
  script.failing_models = {"first"};
  StartReady(script);
  EXPECT_THAT(events_.Take().workers.at("w0").models, ElementsAre("second"));
  events_.WaitForLine("model failed w0 first");
}

TEST_F(WorkerHostTest, TakesAWorkerWithoutAnyModelOut) {
  FakeScript script;
  script.failing_models = {"first", "second"};
  Start(script);
  events_.WaitForState("w0", WorkerState::kOut);
  EXPECT_EQ(host_->Workers().at(0).out, OutReason::kNoModel);
}

TEST_F(WorkerHostTest, AWorkerWithoutAnyModelLooksForThemAgainWhenItIsRestored) {
  FakeScript script;
  script.failing_models = {"first", "second"};
  Start(script);
  events_.WaitForState("w0", WorkerState::kOut);
  host_->Restore("w0");
  launcher_->WaitForLaunch(2);
}

TEST_F(WorkerHostTest, RefusesAWrongToken) {
  FakeScript script;
  script.token = "0123";
  Start(script);
  EXPECT_EQ(launcher_->WaitForLaunch(1)->WaitForEnd().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_TRUE(events_.Take().cards.empty());
}

TEST_F(WorkerHostTest, RefusesATokenThatHasBeenUsed) {
  StartReady();
  LaunchRequest stolen = launcher_->RequestOf(1);
  FakeWorker thief(stolen, {});
  EXPECT_EQ(thief.WaitForEnd().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(host_->Workers().at(0).state, WorkerState::kReady);
}

TEST_F(WorkerHostTest, RefusesAnUnknownWorker) {
  StartReady();
  LaunchRequest stranger = launcher_->RequestOf(1);
  stranger.worker = "w9";
  EXPECT_EQ(FakeWorker(stranger, {}).WaitForEnd().code(), absl::StatusCode::kUnauthenticated);
}

TEST_F(WorkerHostTest, RefusesAnotherProtocol) {
  FakeScript script;
  script.protocol = 2;
  Start(script);
  EXPECT_EQ(launcher_->WaitForLaunch(1)->WaitForEnd().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(WorkerHostTest, RefusesAStreamThatDoesNotBeginWithHello) {
  FakeScript script;
  script.says_hello = false;
  Start(script);
  EXPECT_EQ(launcher_->WaitForLaunch(1)->WaitForEnd().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(WorkerHostTest, ReportsAJobInItsOrder) {
  FakeScript script;
  script.media_bytes = 250;
  script.chunk_bytes = 100;
  StartReady(script);
  host_->Assign("w0", Job("j"));
  events_.WaitForLine("finished j.1");
  EXPECT_THAT(JobLines(), ElementsAre("progress j.1 1/3", "progress j.1 2/3", "progress j.1 3/3",
                                      "media j.1 0+100", "media j.1 100+100",
                                      "media j.1 200+50 end", "finished j.1"));
  EXPECT_EQ(events_.Take().media.at("j.1"), FakeMedia("j", 1, 250));
  EXPECT_EQ(events_.Take().finished.at("j.1").size_bytes, 250);
}

TEST_F(WorkerHostTest, CarriesPixelsCancelAndOrder) {
  FakeScript script;
  script.runs_jobs = false;
  StartReady(script);
  Assignment job = Job("j");
  job.spec.conditions.resize(1);
  job.spec.conditions[0].bytes = std::make_shared<const std::string>("pixels");
  host_->Assign("w0", job);
  host_->Reorder("w0", "j", 4.5);
  host_->Cancel("w0", "j");
  const auto worker = launcher_->WaitForLaunch(1);
  const auto cancel = worker->WaitFor([](const Command& command) { return command.has_cancel(); });
  EXPECT_EQ(cancel->cancel().job(), "j");
  const auto received = worker->Received();
  ASSERT_EQ(received.size(), 5u);
  EXPECT_EQ(received[1].condition_data().data(), "pixels");
  EXPECT_EQ(received[2].assign().job(), "j");
  EXPECT_EQ(received[3].reorder().order_key(), 4.5);
}

TEST_F(WorkerHostTest, ReportsTheEndOfACancelledJob) {
  FakeScript script;
  script.step_time = absl::Hours(1);
  StartReady(script);
  host_->Assign("w0", Job("j"));
  launcher_->WaitForLaunch(1)->WaitFor([](const Command& c) { return c.has_assign(); });
  host_->Cancel("w0", "j");
  events_.WaitForLine("failed j.1");
  EXPECT_EQ(events_.Take().failures.at(0).second.code(), absl::StatusCode::kCancelled);
}

TEST_F(WorkerHostTest, StopsReadingWhileTheDiskIsSlowAndStillSendsControl) {
  options_.media_buffer_bytes = 64 << 10;
  FakeScript script;
  script.media_bytes = 4 << 20;
  script.chunk_bytes = 32 << 10;
  StartReady(script);
  events_.HoldMedia(true);
  host_->Assign("w0", Job("big"));
  events_.WaitForLine("progress big.1 3/3");
  // Nothing is written, so nothing more is read; commands still arrive.
  host_->Reorder("w0", "big", 1);
  const auto worker = launcher_->WaitForLaunch(1);
  EXPECT_TRUE(worker->WaitFor([](const Command& c) { return c.has_reorder(); }));
  EXPECT_TRUE(events_.Take().media.empty());

  events_.HoldMedia(false);
  events_.WaitForLine("finished big.1");
  EXPECT_EQ(events_.Take().media.at("big.1"), FakeMedia("big", 1, 4 << 20));
}

TEST_F(WorkerHostTest, DoesNotTakeAWorkerThatItDoesNotReadForDead) {
  options_.media_buffer_bytes = 64 << 10;
  options_.heartbeat_timeout = absl::Milliseconds(200);
  FakeScript script;
  script.media_bytes = 4 << 20;
  StartReady(script);
  events_.HoldMedia(true);
  host_->Assign("w0", Job("big"));
  events_.WaitForLine("progress big.1 3/3");
  // Far more than the time that a silent worker has.
  launcher_->PassWaits(200);
  events_.HoldMedia(false);
  events_.WaitForLine("finished big.1");
  EXPECT_TRUE(events_.Take().losses.empty());
}

TEST_F(WorkerHostTest, DropsCommandsToWorkersThatAreNotThere) {
  options_.workers.push_back({.name = "w1", .device = "cpu", .models = {}});
  FakeScript script;
  script.token = "wrong";
  Start(script);
  host_->Assign("w1", Job("j"));
  host_->Cancel("nobody", "j");
  host_->SetStepLimit("nobody", absl::Seconds(1));
  EXPECT_EQ(host_->Workers().size(), 2u);
}

TEST_F(WorkerHostTest, DrainsWorkersThatFinishWhatTheyHold) {
  StartReady();
  host_->Assign("w0", Job("j"));
  launcher_->WaitForLaunch(1)->WaitFor([](const Command& c) { return c.has_assign(); });
  host_->Drain(absl::Seconds(60));
  events_.WaitForLine("finished j.1");
  events_.WaitForLine("lost w0 1");
  EXPECT_EQ(launcher_->launches(), 1);
}

TEST_F(WorkerHostTest, EndsADrainAtItsTime) {
  options_.drain_grace = absl::ZeroDuration();
  FakeScript script;
  script.step_time = absl::Hours(1);
  StartReady(script);
  host_->Assign("w0", Job("j"));
  launcher_->WaitForLaunch(1)->WaitFor([](const Command& c) { return c.has_assign(); });
  host_->Drain(absl::Milliseconds(50));
  EXPECT_EQ(launcher_->launches(), 1);
  events_.WaitForLine("lost w0 0");
}

TEST_F(WorkerHostTest, ADeletedSocketIsMadeAnewBeforeAWorkerStarts) {
  StartReady();
  const std::string first = launcher_->RequestOf(1).socket;
  std::filesystem::remove_all(std::filesystem::path(first).parent_path());
  launcher_->End(1, 0, SIGKILL);
  launcher_->WaitForLaunch(2)->WaitFor([](const Command& c) { return c.has_configure(); });
  EXPECT_NE(launcher_->RequestOf(2).socket, first);
}

TEST_F(WorkerHostTest, ReportsNothingAfterStop) {
  FakeScript script;
  script.step_time = absl::Milliseconds(1);
  script.steps = 100000;
  StartReady(script);
  host_->Assign("w0", Job("j"));
  events_.WaitForLine("progress j.1 1/100000");
  host_->Stop();
  const size_t lines = events_.Take().log.size();
  host_->Assign("w0", Job("k"));
  host_.reset();
  EXPECT_EQ(events_.Take().log.size(), lines);
  EXPECT_EQ(events_.Take().losses.size(), 1u);
}

}  // namespace
}  // namespace reel::front
