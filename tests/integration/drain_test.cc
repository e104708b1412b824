// SPDX-License-Identifier: Apache-2.0
// The way down: SIGTERM always ends a server, and its watchers hear of it.
#include <gtest/gtest.h>
#include <signal.h>

#include <iostream>

#include "absl/time/clock.h"
#include "tests/integration/calls.h"
#include "tests/integration/health_watch.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

v1::VideoSpec Steps(const std::string& prompt, int steps) {
  v1::VideoSpec spec = SmallSpec(prompt);
  spec.set_num_inference_steps(steps);
  return spec;
}

void ExpectLeavesWell(ReelServer& server) {
  const std::vector<pid_t> workers = server.Children();
  const auto status = server.WaitForExit();
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(*status, 0);
  for (const pid_t worker : workers) EXPECT_NE(::kill(worker, 0), 0) << "a worker is left";
}

TEST(Drain, AnIdleServerGoesAtOnceAndTellsItsWatchers) {
  ReelServer server;
  HealthWatch health(server);
  ASSERT_TRUE(health.WaitFor(HealthCheckResponse::SERVING));
  server.Signal(SIGTERM);
  EXPECT_TRUE(health.WaitFor(HealthCheckResponse::NOT_SERVING));
  EXPECT_FALSE(health.WaitFor(HealthCheckResponse::SERVING));
  EXPECT_EQ(health.Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  ExpectLeavesWell(server);
}

TEST(Drain, ASecondSignalMeansNow) {
  ServerSetup setup;
  setup.config = SlowConfig(500);
  ReelServer server(setup);
  Calls calls(server.Connect());
  HealthWatch health(server);
  absl::Time told;
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = Steps("x", 100);
  const StreamResult result = calls.Generate(request, [&](const v1::VideoEvent& event) {
    if (event.has_progress() && event.progress().step() == 1) {
      told = absl::Now();
      server.Signal(SIGTERM);
      // Two signals that nobody has taken yet are one.
      EXPECT_TRUE(health.WaitFor(HealthCheckResponse::NOT_SERVING));
      server.Signal(SIGTERM);
    }
    return true;
  });
  EXPECT_EQ(result.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  ExpectLeavesWell(server);
  EXPECT_LT(absl::Now() - told, absl::Seconds(10)) << "the clip takes 50 s";
}

// Neither a worker that does nothing any more nor an open Watch holds up the end.
TEST(Drain, EndsInTimeWithAHungWorkerAndOpenWatches) {
  constexpr absl::Duration kDrain = absl::Seconds(1);
  ServerSetup setup;
  setup.config = R"(timing { drain { seconds: 1 } } models { name: "testcard" test_card {
      faults { kind: "hang" step: 2 prompt_contains: "hang" } } })";
  ReelServer server(setup);
  HealthWatch health(server);
  ASSERT_TRUE(health.WaitFor(HealthCheckResponse::SERVING));
  Calls calls(server.Connect());
  v1::WatchVideoRequest watch;
  watch.set_name(calls.Create(SmallSpec("hang")).name());
  const std::vector<pid_t> workers = server.Children();
  ASSERT_EQ(workers.size(), 1U);
  absl::Time told;
  const StreamResult cut = calls.Watch(watch, [&](const v1::VideoEvent& event) {
    if (event.has_progress() && event.progress().step() == 1 && told == absl::Time()) {
      ::kill(workers[0], SIGSTOP);  // hung beyond any word: not even a heartbeat leaves it
      told = absl::Now();
      server.Signal(SIGTERM);
    }
    return true;
  });
  EXPECT_EQ(cut.reason(), "SERVER_DRAINING");
  const auto status = server.WaitForExit();
  const absl::Duration took = absl::Now() - told;
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(*status, 0);
  EXPECT_NE(::kill(workers[0], 0), 0) << "the worker is left";
  std::cout << "FIGURE SIGTERM with a stopped worker, a Watch and a drain of " << kDrain
            << ": gone after " << took << "\n";
  EXPECT_LE(took, kDrain + absl::Seconds(5));
}

}  // namespace
}  // namespace reel::tests
