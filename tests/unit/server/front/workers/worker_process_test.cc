// SPDX-License-Identifier: Apache-2.0
// The pool with real processes: reel-worker and its test card.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "model/resolve.h"
#include "server/errors/error.h"
#include "server/front/workers/launcher.h"
#include "server/front/workers/worker_host.h"
#include "tests/fakes/recording_events.h"

namespace reel::front {
namespace {

using Heard = RecordingEvents::Heard;

std::string WorkerBinary() {
  const char* bin = getenv("REEL_BIN");
  if (bin) return std::string(bin) + "/reel-worker";
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../bin/reel-worker")
      .string();
}

// Of this process: it has one, the worker.
pid_t ChildPid() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    pid_t pid = 0;
    if (std::ifstream(task.path() / "children") >> pid) return pid;
  }
  return 0;
}

WorkerPoolOptions TestCardOptions() {
  WorkerPoolOptions options;
  options.workers = {{.name = "w0", .device = "cpu", .models = {}}};
  options.models.resize(1);
  options.models[0].name = "testcard";
  options.models[0].test_card.step_time = absl::Milliseconds(5);
  options.restart.first_wait = absl::Milliseconds(10);
  options.restart.longest_wait = absl::Milliseconds(10);
  return options;
}

std::unique_ptr<WorkerLauncher> Launcher() {
  ProcessLauncherOptions options;
  options.binary = WorkerBinary();
  return MakeProcessLauncher(options);
}

// What this program does instead of tests: hosts a pool, prints its worker's id, and waits for its
// own end.
constexpr char kHostFlag[] = "--host_a_pool";
int HostAPool() {
  RecordingEvents events;
  WorkerHost host(TestCardOptions(), Launcher());
  if (!host.Start(events).ok()) return 1;
  events.WaitForState("w0", WorkerState::kReady);
  std::cout << "child=" << ChildPid() << std::endl;
  pause();
  return 0;
}

class WorkerProcessTest : public testing::Test {
 protected:
  void AddFault(const std::string& kind, const std::string& prompt) {
    options_.models[0].test_card.faults.push_back(
        {.kind = kind, .step = 2, .prompt_contains = prompt, .times = 0});
  }
  void StartReady() {
    host_ = std::make_unique<WorkerHost>(options_, Launcher());
    ASSERT_TRUE(host_->Start(events_).ok());
    WaitForReady(0);
  }
  void WaitForReady(int restarts) {
    events_.WaitUntil([&](const Heard& heard) {
      const auto found = heard.workers.find("w0");
      return found != heard.workers.end() && found->second.state == WorkerState::kReady &&
             found->second.restarts == restarts;
    });
  }
  void Assign(const std::string& job, int attempt, const std::string& prompt, int steps) {
    model::GenerationSpec sent;
    sent.model = "testcard";
    sent.prompt = prompt;
    sent.width = 128;
    sent.height = 96;
    sent.num_frames = 9;
    sent.num_inference_steps = steps;
    const model::ModelCard card = events_.Take().cards.at(0);
    const model::Resolution resolution = model::Resolve(sent, card, model::RequestLimits(), 7);
    ASSERT_TRUE(resolution.ok()) << resolution.violations[0].field << ": "
                                 << resolution.violations[0].description;
    Assignment assignment;
    assignment.ref.job = job;
    assignment.ref.attempt = attempt;
    assignment.spec = resolution.spec;
    assignment.time_left = absl::Minutes(5);
    host_->Assign("w0", assignment);
  }
  LossCause WaitForLoss() {
    events_.WaitUntil([](const Heard& heard) { return !heard.losses.empty(); });
    return events_.Take().losses[0].second;
  }
  // The file as it arrived is a whole MP4 of the size that was told.
  void ExpectFile(const std::string& key) {
    const auto heard = events_.Take();
    const std::string& file = heard.media.at(key);
    EXPECT_EQ(file.substr(4, 4), "ftyp");
    EXPECT_EQ(static_cast<int64_t>(file.size()), heard.finished.at(key).size_bytes);
  }

  WorkerPoolOptions options_ = TestCardOptions();
  RecordingEvents events_;
  std::unique_ptr<WorkerHost> host_;
};

TEST_F(WorkerProcessTest, RendersAJob) {
  StartReady();
  Assign("j", 1, "a lighthouse", 4);
  events_.WaitForLine("finished j.1");
  ExpectFile("j.1");
  EXPECT_FALSE(events_.Take().steps.empty());
  EXPECT_EQ(host_->Workers().at(0).device, "cpu");
}

TEST_F(WorkerProcessTest, RendersAgainAfterASigkillInTheMiddle) {
  StartReady();
  Assign("j", 1, "a lighthouse", 100);
  events_.WaitForLine("progress j.1 1/100");
  ASSERT_EQ(kill(ChildPid(), SIGKILL), 0);
  EXPECT_EQ(WaitForLoss(), LossCause::kKilled);
  WaitForReady(1);
  Assign("j", 2, "a lighthouse", 4);
  events_.WaitForLine("finished j.2");
  ExpectFile("j.2");
  EXPECT_EQ(events_.Take().losses.size(), 1u);
}

TEST_F(WorkerProcessTest, EndsACancelledJob) {
  StartReady();
  Assign("j", 1, "a lighthouse", 100);
  events_.WaitForLine("progress j.1 1/100");
  host_->Cancel("w0", "j");
  events_.WaitForLine("failed j.1");
  EXPECT_EQ(ReasonOf(events_.Take().failures.at(0).second), Reason::kCancelledByOwner);
  EXPECT_TRUE(events_.Take().losses.empty());
}

TEST_F(WorkerProcessTest, IgnoresTheSignalsOfATerminal) {
  StartReady();
  Assign("j", 1, "a lighthouse", 50);
  events_.WaitForLine("progress j.1 1/50");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ASSERT_EQ(kill(ChildPid(), signal), 0);
  events_.WaitForLine("finished j.1");
  EXPECT_TRUE(events_.Take().losses.empty());
}

TEST_F(WorkerProcessTest, NamesAnExit) {
  AddFault("exit", "bad");
  StartReady();
  Assign("j", 1, "bad", 4);
  EXPECT_EQ(WaitForLoss(), LossCause::kExit);
}

TEST_F(WorkerProcessTest, ReportsWhoLostTheDeviceBeforeTheWorkerIsLost) {
  AddFault("sticky", "bad");
  StartReady();
  Assign("j", 1, "bad", 4);
  EXPECT_EQ(WaitForLoss(), LossCause::kSticky);
  const auto heard = events_.Take();
  ASSERT_EQ(heard.failures.size(), 1u);
  EXPECT_EQ(ReasonOf(heard.failures[0].second), Reason::kWorkerFault);
  EXPECT_LT(std::ranges::find(heard.log, "failed j.1 suspect"),
            std::ranges::find(heard.log, "lost w0 2"));
}

TEST_F(WorkerProcessTest, ADeviceThatIsGoneBlamesNobodyAndIsOut) {
  AddFault("lost", "bad");
  StartReady();
  Assign("j", 1, "bad", 4);
  EXPECT_EQ(WaitForLoss(), LossCause::kDevice);
  events_.WaitForState("w0", WorkerState::kOut);
  EXPECT_TRUE(events_.Take().failures.empty());
}

TEST_F(WorkerProcessTest, ADeviceThatCannotBeOpenedIsOut) {
  options_.workers[0].device = "cuda:99";
  host_ = std::make_unique<WorkerHost>(options_, Launcher());
  ASSERT_TRUE(host_->Start(events_).ok());
  EXPECT_EQ(WaitForLoss(), LossCause::kDevice);
  events_.WaitForState("w0", WorkerState::kOut);
  EXPECT_EQ(host_->Workers().at(0).out, OutReason::kDevice);
}

TEST_F(WorkerProcessTest, KillsAWorkerThatHangs) {
  AddFault("hang", "bad");
  StartReady();
  host_->SetStepLimit("w0", absl::Milliseconds(1500));
  Assign("j", 1, "bad", 4);
  EXPECT_EQ(WaitForLoss(), LossCause::kHang);
  WaitForReady(1);
}

TEST_F(WorkerProcessTest, DrainsAndLeavesNoChild) {
  StartReady();
  Assign("j", 1, "a lighthouse", 20);
  events_.WaitForLine("progress j.1 1/20");
  host_->Drain(absl::Minutes(1));
  events_.WaitForLine("finished j.1");
  EXPECT_EQ(ChildPid(), 0);
  EXPECT_EQ(WaitForLoss(), LossCause::kExit);
}

TEST_F(WorkerProcessTest, LeavesNoChildWhenItStopsInTheMiddle) {
  StartReady();
  Assign("j", 1, "a lighthouse", 100);
  events_.WaitForLine("progress j.1 1/100");
  host_.reset();
  EXPECT_EQ(ChildPid(), 0);
}

TEST_F(WorkerProcessTest, DiesWithItsParent) {
  std::array<int, 2> ends;
  ASSERT_EQ(pipe(ends.data()), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string flag = kHostFlag;
  std::array<char*, 3> argv = {self.data(), flag.data(), nullptr};
  pid_t parent = 0;
  ASSERT_EQ(posix_spawn(&parent, self.c_str(), &actions, nullptr, argv.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);

  std::string output;
  pid_t worker = 0;
  for (char c; worker == 0 && read(ends[0], &c, 1) == 1;) {
    output += c;
    const size_t at = output.find("child=");
    if (c == '\n' && at != std::string::npos) worker = std::stoi(output.substr(at + 6));
  }
  ASSERT_GT(worker, 0) << output;
  const int watch = static_cast<int>(syscall(SYS_pidfd_open, worker, 0));
  ASSERT_GE(watch, 0);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  pollfd ended = {.fd = watch, .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&ended, 1, 2000), 1) << "the worker outlived its parent by two seconds";
  close(watch);
  close(ends[0]);
}

TEST_F(WorkerProcessTest, TellsAboutItselfAndRefusesBadFlags) {
  const auto status_of = [](const std::string& arguments) {
    return WEXITSTATUS(system((WorkerBinary() + " " + arguments + " >/dev/null 2>&1").c_str()));
  };
  EXPECT_EQ(status_of("--version"), 0);
  EXPECT_EQ(status_of("--help"), 0);
  EXPECT_EQ(status_of("--no-such-flag"), 2);
  EXPECT_EQ(status_of("--socket=/nowhere"), 2);
  // Names take - and _ alike; not a child of process 1, so it leaves.
  EXPECT_EQ(status_of("--socket=/nowhere --name=w --token-fd=0 --parent-pid=1 </dev/null"), 1);
}

}  // namespace
}  // namespace reel::front

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == reel::front::kHostFlag)
    return reel::front::HostAPool();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
