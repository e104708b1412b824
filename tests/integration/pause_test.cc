// SPDX-License-Identifier: Apache-2.0
// A pause is not a fault: a process, container or machine that is stopped for a while goes on where
// it was.
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

// Longer than a worker may be silent, and than a step may take.
constexpr absl::Duration kPause = absl::Milliseconds(6500);

void SendAll(const std::vector<pid_t>& processes, int signal) {
  for (const pid_t process : processes) ::kill(process, signal);
}

TEST(Pause, OfReeldIsNoFaultOfItsWorkers) {
  ServerSetup setup;
  setup.config = SlowConfig(100);
  ReelServer alone(setup), together(setup);
  std::vector<std::string> names;
  for (ReelServer* server : {&alone, &together}) {
    Calls calls(server->Connect());
    v1::VideoSpec spec = SmallSpec("paused");
    spec.set_num_inference_steps(20);
    const std::string name = calls.Create(spec).name();
    ASSERT_TRUE(Eventually([&] { return calls.Get(name).progress().step() >= 2; }));
    names.push_back(name);
  }
  std::vector<pid_t> stopped = {alone.pid(), together.pid()};
  const std::vector<pid_t> workers = together.Children();
  ASSERT_EQ(workers.size(), 1U);
  SendAll(stopped, SIGSTOP);
  SendAll(workers, SIGSTOP);
  const absl::Time end = absl::Now() + kPause;
  Eventually([&] { return absl::Now() >= end; });
  SendAll(stopped, SIGCONT);  // first: it finds its worker silent
  SendAll(workers, SIGCONT);
  for (ReelServer* server : {&alone, &together}) {
    Calls calls(server->Connect());
    const v1::Video video = calls.Await(names[server == &alone ? 0 : 1]);
    EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.error().message();
    EXPECT_EQ(video.attempt(), 1);
    EXPECT_EQ(server->Metric("reel_worker_restarts_total"), 0);
    EXPECT_NE(server->Log().find("reeld did not run for a while"), std::string::npos);
  }
}

}  // namespace
}  // namespace reel::tests
