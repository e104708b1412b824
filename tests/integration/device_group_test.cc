// SPDX-License-Identifier: Apache-2.0
// A worker whose device is a group, by the real programs, on the demo models and CPUs. Its videos
// and films are those of one device; a rank that stops or dies costs no more than time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/fakes/decoded_video.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::IsEmpty;

ServerSetup DemoOn(const std::string& device, const std::string& weights = "weights") {
  ServerSetup setup;
  setup.config =
      absl::StrCat("models { name: 'demo' path: '", std::getenv("REEL_SOURCE"), "/model/demo/",
                   weights, "' dtype: 'fp32' }\n", "workers { device: '", device, "' }");
  return setup;
}

v1::VideoSpec Spec(const std::string& prompt, int steps) {
  v1::VideoSpec spec;
  spec.set_prompt(prompt);
  spec.set_width(128);
  spec.set_height(128);
  spec.set_num_frames(17);
  spec.set_num_inference_steps(steps);
  spec.set_guidance_scale(3);
  spec.set_seed(5);
  spec.mutable_encoding()->set_crf(0);  // what is decoded is what was encoded
  return spec;
}

v1::GenerateVideoRequest RequestOf(const v1::VideoSpec& spec) {
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = spec;
  return request;
}

// The greatest difference of two files' luma, of 255.
int FurthestApart(const std::string& a, const std::string& b) {
  const auto one = testing::Decode(a), other = testing::Decode(b);
  EXPECT_TRUE(one.ok() && other.ok()) << one.status() << other.status();
  if (!one.ok() || !other.ok() || one->luma.size() != other->luma.size()) return 255;
  int most = 0;
  for (size_t frame = 0; frame < one->luma.size(); ++frame) {
    for (size_t i = 0; i < one->luma[frame].size(); ++i) {
      most = std::max(most, std::abs(one->luma[frame][i] - other->luma[frame][i]));
    }
  }
  return most;
}

class DeviceGroupOf : public ::testing::TestWithParam<std::string> {};

TEST_P(DeviceGroupOf, IsOneWorkerWithTheVideosOfOneDevice) {
  ReelServer group(DemoOn(GetParam())), one(DemoOn("cpu"));
  Calls on_group(group.Connect()), on_one(one.Connect());
  EXPECT_EQ(group.Children().size(), 1u);
  for (const int steps : {1, 6}) {
    const StreamResult made = on_group.Generate(Spec("a red circle", steps));
    const StreamResult expected = on_one.Generate(Spec("a red circle", steps));
    ASSERT_TRUE(made.status.ok()) << made.status.error_message();
    ASSERT_TRUE(expected.status.ok()) << expected.status.error_message();
    EXPECT_EQ(made.finished.stats().device(), GetParam());
    EXPECT_LE(FurthestApart(made.file, expected.file), 1) << steps;
    EXPECT_THAT(made.faults, IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, DeviceGroupOf, ::testing::Values("cpu+cpu", "cpu+cpu+cpu+cpu"));

TEST(DeviceGroup, MakesAFilmWithSoundAsOneDevice) {
  ReelServer group(DemoOn("cpu+cpu", "films/weights")), one(DemoOn("cpu", "films/weights"));
  Calls on_group(group.Connect()), on_one(one.Connect());
  const v1::VideoSpec spec = Spec("a green triangle sliding left over a gray checkerboard", 3);
  const StreamResult made = on_group.Generate(spec), expected = on_one.Generate(spec);
  ASSERT_TRUE(made.status.ok()) << made.status.error_message();
  ASSERT_TRUE(expected.status.ok()) << expected.status.error_message();
  EXPECT_EQ(made.finished.stats().device(), "cpu+cpu");
  EXPECT_LE(FurthestApart(made.file, expected.file), 1);
  const auto film = testing::Decode(made.file), film_of_one = testing::Decode(expected.file);
  ASSERT_TRUE(film.ok() && film_of_one.ok());
  ASSERT_EQ(film->channels, 2);
  ASSERT_EQ(film->sound.size(), film_of_one->sound.size());
  float most = 0;
  for (size_t i = 0; i < film->sound.size(); ++i) {
    most = std::max(most, std::abs(film->sound[i] - film_of_one->sound[i]));
  }
  EXPECT_LT(most, 0.01f);
}

TEST(DeviceGroup, IsCancelledBetweenPieces) {
  ReelServer server(DemoOn("cpu+cpu"));
  Calls calls(server.Connect());
  const StreamResult left =
      calls.Generate(RequestOf(Spec("a blue square", 60)), [&](const v1::VideoEvent& event) {
        return !event.has_progress() || event.progress().step() < 3;
      });
  EXPECT_EQ(left.status.error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(calls.Generate(Spec("a red circle", 4)).status.ok());
  EXPECT_EQ(server.Metric("reel_worker_restarts_total"), 0);
}

TEST(DeviceGroup, ADeadWorkerCostsTimeOnly) {
  ReelServer server(DemoOn("cpu+cpu"));
  Calls calls(server.Connect());
  const StreamResult undisturbed = calls.Generate(Spec("a green circle", 12));
  ASSERT_TRUE(undisturbed.status.ok()) << undisturbed.status.error_message();
  bool killed = false;
  const StreamResult result =
      calls.Generate(RequestOf(Spec("a green circle", 12)), [&](const v1::VideoEvent& event) {
        if (!killed && event.has_progress() && event.progress().step() >= 3) {
          killed = true;
          for (const pid_t child : server.Children()) ::kill(child, SIGKILL);
        }
        return true;
      });
  ASSERT_TRUE(result.status.ok()) << result.status.error_message();
  EXPECT_EQ(result.restarts, 1);
  EXPECT_EQ(result.file, undisturbed.file);
  EXPECT_EQ(server.Metric("reel_worker_restarts_total"), 1);
}

// The thread of the second rank, 0 where there is none.
pid_t SecondRankOf(pid_t worker) {
  const std::string tasks = absl::StrCat("/proc/", worker, "/task");
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm") >> std::ws, name);
    pid_t thread = 0;
    if (name == "rank 1" && absl::SimpleAtoi(task.path().filename().string(), &thread)) {
      return thread;
    }
  }
  return 0;
}

// Holds a thread of another process for as long as that lives: whoever stops it must also be there
// when it ends, or nobody else learns of its process's end.
class HeldThread {
 public:
  explicit HeldThread(pid_t thread) : holder_([this, thread] { Hold(thread); }) {}
  ~HeldThread() { holder_.join(); }

  bool held() { return held_.get_future().get(); }

 private:
  void Hold(pid_t thread) {
    const bool seized = ::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) == 0;
    held_.set_value(seized && ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) == 0);
    int status = 0;
    while (seized && ::waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status)) {
    }
  }

  std::promise<bool> held_;
  std::thread holder_;
};

TEST(DeviceGroup, ARankThatHangsEndsItsWorkerAndNotTheService) {
  std::optional<HeldThread> held;  // outlives the worker
  ReelServer server(DemoOn("cpu+cpu"));
  Calls calls(server.Connect());
  const v1::VideoSpec spec = Spec("a red circle", 4);
  // How long its steps take is known then, and so is what is too long.
  ASSERT_TRUE(calls.Generate(spec).status.ok());
  const std::vector<pid_t> workers = server.Children();
  ASSERT_EQ(workers.size(), 1u);
  const pid_t rank = SecondRankOf(workers[0]);
  ASSERT_NE(rank, 0);
  held.emplace(rank);
  if (!held->held()) GTEST_SKIP() << "SKIPPED: no thread may be stopped here";
  const StreamResult hung = calls.Generate(spec);
  EXPECT_EQ(server.Metric("reel_worker_restarts_total", "reason=\"hang\""), 1)
      << hung.status.error_message();
  EXPECT_TRUE(calls.Generate(spec).status.ok());
  EXPECT_TRUE(server.Alive());
}

}  // namespace
}  // namespace reel::tests
