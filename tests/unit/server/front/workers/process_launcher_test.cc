// SPDX-License-Identifier: Apache-2.0
// With a shell script as the worker.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "server/front/workers/launcher.h"

namespace reel::front {
namespace {

class ProcessLauncherTest : public testing::Test {
 protected:
  ~ProcessLauncherTest() override {
    unlink(script_.c_str());
    unlink(Out().c_str());
  }

  std::string Out() const { return script_ + ".out"; }
  // A worker whose body is this script; $out is a file of its own.
  std::unique_ptr<WorkerLauncher> Scripted(const std::string& body) {
    std::ofstream(script_) << "#!/bin/bash\nout=" << Out() << "\n" << body << "\n";
    chmod(script_.c_str(), 0700);
    ProcessLauncherOptions options;
    options.binary = script_;
    options.extra_arguments = {"--log_level=debug"};
    return MakeProcessLauncher(options);
  }
  WorkerExit WaitForExit(WorkerLauncher& launcher) {
    for (;;) {
      const auto exits = launcher.Wait(absl::Seconds(10));
      if (!exits.empty()) return exits[0];
    }
  }
  std::string Written() const {
    std::stringstream text;
    text << std::ifstream(Out()).rdbuf();
    return text.str();
  }

  const LaunchRequest request_{
      .worker = "w0", .device = "cpu", .socket = "/nowhere", .token = "secret-token"};
  std::string script_ = testing::TempDir() + "reel_launch_" + std::to_string(getpid()) + ".sh";
};

TEST_F(ProcessLauncherTest, HandsOverTheArgumentsAndTheToken) {
  auto launcher = Scripted("echo \"$@\" >$out; cat <&3 >>$out; exit 7");
  const int64_t id = *launcher->Launch(request_);
  const WorkerExit exit = WaitForExit(*launcher);
  EXPECT_EQ(exit.id, id);
  EXPECT_EQ(exit.status, 7);
  EXPECT_EQ(exit.signal, 0);
  EXPECT_EQ(Written(),
            "--socket=/nowhere --name=w0 --device=cpu --parent_pid=" + std::to_string(getpid()) +
                " --token_fd=3 --log_level=debug\n" + "secret-token");
}

TEST_F(ProcessLauncherTest, KeepsWaitingThreadsFromSpinningUnlessTheUserChose) {
  const auto seen = [this] {
    auto launcher = Scripted("echo -n \"$GOMP_SPINCOUNT $OMP_WAIT_POLICY\" >$out");
    EXPECT_TRUE(launcher->Launch(request_).ok());
    WaitForExit(*launcher);
    return Written();
  };
  unsetenv("GOMP_SPINCOUNT");
  unsetenv("OMP_WAIT_POLICY");
  EXPECT_EQ(seen(), "1000 ");
  setenv("OMP_WAIT_POLICY", "active", 1);
  EXPECT_EQ(seen(), " active");
  unsetenv("OMP_WAIT_POLICY");
}

TEST_F(ProcessLauncherTest, LetsAWorkerKeepTheMemoryOfItsTensorsUnlessTheUserChose) {
  const auto seen = [this] {
    auto launcher = Scripted("echo -n \"$MALLOC_MMAP_THRESHOLD_ $MALLOC_TRIM_THRESHOLD_\" >$out");
    EXPECT_TRUE(launcher->Launch(request_).ok());
    WaitForExit(*launcher);
    return Written();
  };
  unsetenv("MALLOC_MMAP_THRESHOLD_");
  unsetenv("MALLOC_TRIM_THRESHOLD_");
  EXPECT_EQ(seen(), "33554432 268435456");
  setenv("MALLOC_TRIM_THRESHOLD_", "1000000", 1);
  EXPECT_EQ(seen(), "33554432 1000000");
  unsetenv("MALLOC_TRIM_THRESHOLD_");
}

TEST_F(ProcessLauncherTest, LeavesNoOtherDescriptorOpen) {
  const int ours = open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  auto launcher = Scripted(
      "open=; for fd in {0..200}; do [ -e /proc/$$/fd/$fd ] && open+=\"$fd \"; done; echo -n "
      "\"$open\" >$out");
  ASSERT_TRUE(launcher->Launch(request_).ok());
  WaitForExit(*launcher);
  close(ours);
  EXPECT_EQ(Written(), "0 1 2 3 ");
}

TEST_F(ProcessLauncherTest, ReportsTheSignalOfAKill) {
  auto launcher = Scripted("exec sleep 1000");
  const int64_t id = *launcher->Launch(request_);
  launcher->Kill(id);
  const WorkerExit exit = WaitForExit(*launcher);
  EXPECT_EQ(exit.signal, SIGKILL);
  launcher->Kill(id);  // harmless
}

TEST_F(ProcessLauncherTest, GivesTheChildDefaultSignals) {
  signal(SIGUSR1, SIG_IGN);
  auto launcher = Scripted("kill -USR1 $$; exit 9");
  ASSERT_TRUE(launcher->Launch(request_).ok());
  EXPECT_EQ(WaitForExit(*launcher).signal, SIGUSR1);
  signal(SIGUSR1, SIG_DFL);
}

TEST_F(ProcessLauncherTest, SurvivesAFloodOfOutput) {
  auto launcher = Scripted("head -c 3000000 /dev/zero | tr '\\0' 'x' >&2; exit 4");
  ASSERT_TRUE(launcher->Launch(request_).ok());
  EXPECT_EQ(WaitForExit(*launcher).status, 4);
}

TEST_F(ProcessLauncherTest, NamesABinaryThatIsNotThere) {
  ProcessLauncherOptions options;
  options.binary = "/no/such/reel-worker";
  const auto id = MakeProcessLauncher(options)->Launch(request_);
  EXPECT_EQ(id.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(id.status().message().find("/no/such/reel-worker"), absl::string_view::npos);
}

TEST_F(ProcessLauncherTest, LeavesNoChildBehind) {
  int64_t id = 0;
  {
    auto launcher = Scripted("exec sleep 1000");
    id = *launcher->Launch(request_);
  }
  EXPECT_EQ(kill(static_cast<pid_t>(id), 0), -1);
}

TEST_F(ProcessLauncherTest, WakesAWait) {
  auto launcher = Scripted("exit 0");
  launcher->Wake();
  EXPECT_TRUE(launcher->Wait(absl::Hours(1)).empty());
}

}  // namespace
}  // namespace reel::front
