// SPDX-License-Identifier: Apache-2.0
// Ctrl-C, as a person presses it: the real `reel` against a fake server.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/fake_video_service.h"
#include "tests/fakes/temp_folder.h"
#include "tests/integration/program.h"

namespace reel {
namespace {

using tests::Program;

class InterruptTest : public ::testing::Test {
 protected:
  // `reel ARGUMENT...` against the fake.
  std::unique_ptr<Program> Reel(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--server", server_.address()});
    return std::make_unique<Program>(tests::BinaryPath("reel"), std::move(arguments));
  }
  static bool Says(const Program& reel, const std::string& text) {
    return tests::Eventually([&] { return reel.Errors().find(text) != std::string::npos; });
  }
  static int Wait(Program& reel) { return reel.WaitForExit().value_or(-1000); }

  fakes::FakeVideoService server_;
  testing::TempFolder folder_;
};

// The fake waits after it has sent the first events, so the command may still be reading them when
// the signal comes. Then it has no name to cancel and leaves, which also ends a bound job.
TEST_F(InterruptTest, EndsTheJobAndLeavesNoFile) {
  server_.Play({{.wait_for_cancel = true}});
  const auto reel = Reel({"generate", "x", "-o", folder_.File("a.mp4")});
  server_.WaitForStreams(1);
  reel->Signal(SIGINT);
  EXPECT_EQ(Wait(*reel), 130);
  const fakes::Asked asked = server_.asked();
  if (asked.cancels == 0) server_.WaitUntilLeft(1);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(InterruptTest, CancelsByNameOnceItIsKnown) {
  server_.Play({{.wait_for_cancel = true, .notice = "the prompt was cut"}});
  const auto reel = Reel({"generate", "x", "-o", folder_.File("a.mp4")});
  ASSERT_TRUE(Says(*reel, "the prompt was cut"));  // printed when the video is accepted
  reel->Signal(SIGINT);
  EXPECT_TRUE(Says(*reel, "videos/fake1 was cancelled"));
  EXPECT_EQ(Wait(*reel), 130);
  EXPECT_EQ(server_.asked().cancels, 1);
}

TEST_F(InterruptTest, LeavesAtOnceWhenAskedTwice) {
  server_.Play({{.wait_for_cancel = true, .ignore_cancel = true, .notice = "accepted now"}});
  const auto reel = Reel({"generate", "x", "-o", folder_.File("a.mp4")});
  ASSERT_TRUE(Says(*reel, "accepted now"));
  reel->Signal(SIGINT);
  ASSERT_TRUE(Says(*reel, "Ctrl-C again"));
  reel->Signal(SIGINT);
  EXPECT_EQ(Wait(*reel), 130);
}

TEST_F(InterruptTest, EndsAComparisonWithTheJobUnderWay) {
  server_.Play({{.wait_for_cancel = true}});
  const auto reel = Reel({"ab", "x", "--a", "auto", "--b", "reference"});
  server_.WaitForStreams(1);
  reel->Signal(SIGINT);
  EXPECT_EQ(Wait(*reel), 130);
  server_.WaitUntilLeft(1);
  EXPECT_EQ(server_.asked().streams, 1);
}

TEST_F(InterruptTest, KeepsADetachedJob) {
  server_.Play({{.wait_for_cancel = true, .notice = "accepted now"}});
  const auto reel = Reel({"generate", "x", "--detach", "-o", folder_.File("a.mp4")});
  ASSERT_TRUE(Says(*reel, "accepted now"));
  reel->Signal(SIGINT);
  EXPECT_TRUE(Says(*reel, "videos/fake1 keeps running"));
  EXPECT_EQ(Wait(*reel), 130);
  EXPECT_EQ(server_.asked().cancels, 0);
}

TEST_F(InterruptTest, LeavesAWatchedJobAlone) {
  server_.Play({{.wait_for_cancel = true, .notice = "accepted now"}});
  const auto reel = Reel({"watch", "fake1"});
  ASSERT_TRUE(Says(*reel, "accepted now"));
  reel->Signal(SIGTERM);
  EXPECT_EQ(Wait(*reel), 128 + SIGTERM);
  EXPECT_EQ(server_.asked().cancels, 0);
}

TEST_F(InterruptTest, EndsPlainCallsAsAlways) {
  server_.SetPause(50);
  const auto reel = Reel({"download", "fake1", "-o", folder_.File("a.mp4")});
  server_.WaitForStreams(1);
  reel->Signal(SIGINT);
  EXPECT_EQ(Wait(*reel), -SIGINT);
  EXPECT_FALSE(folder_.Has("a.mp4"));
}

}  // namespace
}  // namespace reel
