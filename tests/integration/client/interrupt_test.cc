// SPDX-License-Identifier: Apache-2.0
// Ctrl-C, as a person presses it: the real `reel` against a fake server.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/fake_video_service.h"

extern char** environ;

namespace reel {
namespace {

namespace fs = std::filesystem;

// A child whose stderr is read here. Killed and reaped at the latest when it is destroyed.
class Child {
 public:
  explicit Child(std::vector<std::string> arguments) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    stderr_ = ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
  }
  ~Child() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(stderr_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void Signal(int number) { kill(pid_, number); }

  // The exit code; 1000 + signal if one ended it.
  int Wait() {
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

  // Reads stderr until it holds `text`; false when it ends before.
  bool ReadUntil(const std::string& text) {
    while (said_.find(text) == std::string::npos) {
      char buffer[512];
      const ssize_t count = read(stderr_, buffer, sizeof(buffer));
      if (count <= 0) return false;
      said_.append(buffer, static_cast<size_t>(count));
    }
    return true;
  }

 private:
  pid_t pid_ = -1;
  int stderr_ = -1;
  std::string said_;
};

class InterruptTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "interrupt_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override { fs::remove_all(folder_); }

  // `reel COMMAND ARGUMENT...`, when its stream has been accepted by the server.
  std::vector<std::string> Reel(std::vector<std::string> arguments) const {
    std::vector<std::string> all = {std::string(std::getenv("REEL_BIN")) + "/reel", "--server",
                                    server_.address()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }

  fakes::FakeVideoService server_;
  std::string folder_;
};

// The fake waits after it has sent the first events, so the command may still be reading them when
// the signal comes: then it has no name to cancel and leaves, which ends a bound job as well.
TEST_F(InterruptTest, EndsTheJobAndLeavesNoFile) {
  server_.Play({{.wait_for_cancel = true}});
  Child child(Reel({"generate", "x", "-o", folder_ + "/a.mp4"}));
  server_.WaitForStreams(1);
  child.Signal(SIGINT);
  EXPECT_EQ(child.Wait(), 130);
  const fakes::Asked asked = server_.asked();
  if (asked.cancels == 0) server_.WaitUntilLeft(1);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(InterruptTest, CancelsByNameOnceItIsKnown) {
  server_.Play({{.wait_for_cancel = true, .notice = "the prompt was cut"}});
  Child child(Reel({"generate", "x", "-o", folder_ + "/a.mp4"}));
  ASSERT_TRUE(child.ReadUntil("the prompt was cut"));  // printed when the video is accepted
  child.Signal(SIGINT);
  EXPECT_TRUE(child.ReadUntil("videos/fake1 is cancelled"));
  EXPECT_EQ(child.Wait(), 130);
  EXPECT_EQ(server_.asked().cancels, 1);
}

TEST_F(InterruptTest, LeavesAtOnceWhenAskedTwice) {
  server_.Play({{.wait_for_cancel = true, .ignore_cancel = true, .notice = "accepted now"}});
  Child child(Reel({"generate", "x", "-o", folder_ + "/a.mp4"}));
  ASSERT_TRUE(child.ReadUntil("accepted now"));
  child.Signal(SIGINT);
  ASSERT_TRUE(child.ReadUntil("Ctrl-C again"));
  child.Signal(SIGINT);
  EXPECT_EQ(child.Wait(), 130);
}

TEST_F(InterruptTest, KeepsADetachedJob) {
  server_.Play({{.wait_for_cancel = true, .notice = "accepted now"}});
  Child child(Reel({"generate", "x", "--detach", "-o", folder_ + "/a.mp4"}));
  ASSERT_TRUE(child.ReadUntil("accepted now"));
  child.Signal(SIGINT);
  EXPECT_TRUE(child.ReadUntil("videos/fake1 goes on"));
  EXPECT_EQ(child.Wait(), 130);
  EXPECT_EQ(server_.asked().cancels, 0);
}

TEST_F(InterruptTest, LeavesAWatchedJobAlone) {
  server_.Play({{.wait_for_cancel = true, .notice = "accepted now"}});
  Child child(Reel({"watch", "fake1"}));
  ASSERT_TRUE(child.ReadUntil("accepted now"));
  child.Signal(SIGTERM);
  EXPECT_EQ(child.Wait(), 128 + SIGTERM);
  EXPECT_EQ(server_.asked().cancels, 0);
}

TEST_F(InterruptTest, EndsPlainCallsAsAlways) {
  server_.SetPause(50);
  Child child(Reel({"download", "fake1", "-o", folder_ + "/a.mp4"}));
  server_.WaitForStreams(1);
  child.Signal(SIGINT);
  EXPECT_EQ(child.Wait(), 1000 + SIGINT);
  EXPECT_FALSE(fs::exists(folder_ + "/a.mp4"));
}

}  // namespace
}  // namespace reel
