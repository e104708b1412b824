// SPDX-License-Identifier: Apache-2.0
// Models that come and go, and what a worker's next process begins with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "server/convert/worker_convert.h"
#include "server/front/workers/worker_host.h"
#include "tests/fakes/fake_launcher.h"
#include "tests/fakes/recording_events.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;

model::LoadOptions ModelAt(const std::string& name, const std::string& path) {
  model::LoadOptions options;
  options.name = name;
  options.path = path;
  return options;
}

class WorkerModelsTest : public ::testing::Test {
 protected:
  void Start(const FakeScript& script = {}) {
    WorkerPoolOptions options;
    options.workers = {{.name = "w0", .device = "cpu", .models = {}}};
    options.models = {ModelAt("first", ""), ModelAt("second", "/models/second")};
    options.watch_interval = absl::Milliseconds(5);
    options.restart.first_wait = wait_;
    options.restart.longest_wait = 2 * wait_;
    auto launcher = std::make_unique<FakeLauncher>(script);
    launcher_ = launcher.get();
    host_ = std::make_unique<WorkerHost>(options, std::move(launcher));
    ASSERT_TRUE(host_->Start(events_).ok());
  }
  void StartReady() {
    Start();
    events_.WaitForState("w0", WorkerState::kReady);
  }

  absl::Duration wait_ = absl::Milliseconds(1);  // before a restart
  RecordingEvents events_;
  FakeLauncher* launcher_ = nullptr;  // the host's
  std::unique_ptr<WorkerHost> host_;
};

// What the n-th process was told to begin with, as "name path".
std::vector<std::string> BeginsWith(FakeLauncher& launcher, int n) {
  const auto configure = launcher.WaitForLaunch(n)->WaitFor(
      [](const FakeWorker::Command& command) { return command.has_configure(); });
  std::vector<std::string> models;
  for (const auto& load : configure->configure().models()) {
    models.push_back(load.model() + " " + load.path());
  }
  return models;
}

FakeWorker::Report AnswerTo(const worker::v1::LoadModel& load, bool ok) {
  FakeWorker::Report report;
  worker::v1::ModelState& state = *report.mutable_model_state();
  if (ok) state = CardToModelState(FakeCard(load.model()));
  if (!ok) state.mutable_error()->set_message("no good");
  state.set_model(load.model());
  state.set_revision(load.revision());
  return report;
}

TEST_F(WorkerModelsTest, TheNextProcessBeginsWithWhatWasLoadedLast) {
  StartReady();
  const auto worker = launcher_->WaitForLaunch(1);
  host_->LoadModel("w0", ModelAt("second", "/new"), 7);
  host_->LoadModel("w0", ModelAt("third", "/bad"), 8);
  host_->UnloadModel("w0", "first");
  for (const int64_t revision : {7, 8}) {
    const auto load = worker->WaitFor([&](const FakeWorker::Command& command) {
      return command.has_load_model() && command.load_model().revision() == revision;
    });
    ASSERT_TRUE(load.has_value());
    worker->Send(AnswerTo(load->load_model(), revision == 7));
  }
  events_.WaitForLine("model failed w0 third");
  EXPECT_THAT(host_->Workers().at(0).models, ElementsAre("second"));
  launcher_->End(1, 0, SIGKILL);
  EXPECT_THAT(BeginsWith(*launcher_, 2), ElementsAre("second /new"));
}

TEST_F(WorkerModelsTest, OneThatMakesWayIsKeptForTheNextProcess) {
  StartReady();
  const auto worker = launcher_->WaitForLaunch(1);
  host_->PutOutModel("w0", "second");
  ASSERT_TRUE(worker->WaitFor([](const FakeWorker::Command& command) {
    return command.has_unload_model() && command.unload_model().model() == "second";
  }));
  EXPECT_THAT(host_->Workers().at(0).models, ElementsAre("first"));
  launcher_->End(1, 0, SIGKILL);
  EXPECT_THAT(BeginsWith(*launcher_, 2), ElementsAre("first ", "second /models/second"));
}

TEST_F(WorkerModelsTest, AWorkerThatIsLostInALoadBeginsWithWhatItHad) {
  StartReady();
  const auto worker = launcher_->WaitForLaunch(1);
  host_->LoadModel("w0", ModelAt("second", "/new"), 7);
  worker->WaitFor([](const FakeWorker::Command& command) { return command.has_load_model(); });
  launcher_->End(1, 0, SIGKILL);
  events_.WaitForLine("model failed w0 second");
  EXPECT_THAT(BeginsWith(*launcher_, 2), ElementsAre("first ", "second /models/second"));
}

// A canary looks at what comes in place of something; what a process begins with is not looked at.
TEST_F(WorkerModelsTest, AReplacementWaitsForAWorkerThatIsAwayAndHasWhatItHad) {
  wait_ = absl::Milliseconds(300);  // long enough for what comes meanwhile
  StartReady();
  launcher_->End(1, 0, SIGKILL);
  events_.WaitForState("w0", WorkerState::kLost);
  host_->LoadModel("w0", ModelAt("second", "/bad"), 7);
  host_->LoadModel("w0", ModelAt("third", "/new"), 8);
  EXPECT_THAT(BeginsWith(*launcher_, 2), ElementsAre("first ", "second /models/second"));
  const auto worker = launcher_->WaitForLaunch(2);
  for (const int64_t revision : {7, 8}) {
    const auto load = worker->WaitFor([&](const FakeWorker::Command& command) {
      return command.has_load_model() && command.load_model().revision() == revision;
    });
    ASSERT_TRUE(load.has_value());
    worker->Send(AnswerTo(load->load_model(), revision == 8));
  }
  events_.WaitForLine("model failed w0 second");
  events_.WaitUntil([](const RecordingEvents::Heard& heard) {
    return std::ranges::count(heard.workers.at("w0").models, "third") > 0;
  });
  launcher_->End(2, 0, SIGKILL);
  EXPECT_THAT(BeginsWith(*launcher_, 3),
              ElementsAre("first ", "second /models/second", "third /new"));
}

TEST_F(WorkerModelsTest, AWorkerWithoutAnyModelComesBackWithItsFirst) {
  FakeScript script;
  script.failing_models = {"first", "second"};
  Start(script);
  events_.WaitForState("w0", WorkerState::kOut);
  host_->LoadModel("w0", ModelAt("first", "/mended"), 1);
  const auto worker = launcher_->WaitForLaunch(1);
  const auto load =
      worker->WaitFor([](const FakeWorker::Command& command) { return command.has_load_model(); });
  worker->Send(AnswerTo(load->load_model(), true));
  events_.WaitForState("w0", WorkerState::kReady);
}

TEST_F(WorkerModelsTest, TheFirstStepsOfANewModelMayTakeLonger) {
  StartReady();
  const auto worker = launcher_->WaitForLaunch(1);
  host_->SetStepLimit("w0", absl::Seconds(5));
  host_->LoadModel("w0", ModelAt("second", "/new"), 7);
  const auto load =
      worker->WaitFor([](const FakeWorker::Command& command) { return command.has_load_model(); });
  worker->SetHeartbeat(absl::Milliseconds(5), absl::Seconds(10));
  launcher_->PassWaits(20);
  EXPECT_TRUE(events_.Take().losses.empty());
  worker->Send(AnswerTo(load->load_model(), true));
  events_.WaitUntil([](const RecordingEvents::Heard& heard) { return !heard.losses.empty(); });
  EXPECT_EQ(events_.Take().losses[0].second, LossCause::kHang);
}

TEST_F(WorkerModelsTest, AWorkerThatIsToHaveNoModelIsUp) {
  StartReady();
  for (const char* model : {"first", "second"}) host_->UnloadModel("w0", model);
  launcher_->End(1, 0, SIGKILL);
  EXPECT_TRUE(BeginsWith(*launcher_, 2).empty());
  events_.WaitUntil([](const RecordingEvents::Heard& heard) {
    const WorkerInfo& worker = heard.workers.at("w0");
    return worker.restarts == 1 && worker.state == WorkerState::kReady;
  });
}

}  // namespace
}  // namespace reel::front
