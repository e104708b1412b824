// SPDX-License-Identifier: Apache-2.0
// A load balancer learns in time that a server cannot take work, or can again.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <iostream>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "tests/integration/calls.h"
#include "tests/integration/health_watch.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

constexpr absl::Duration kWatchBar = absl::Milliseconds(100);
constexpr absl::Duration kDeadBar = absl::Seconds(1);

// When the server itself says first that it has a worker, or has none.
absl::Time WhenTold(const ReelServer& server, bool ready) {
  Calls calls(server.Connect());
  EXPECT_TRUE(Eventually([&] {
    v1::GetServerInfoResponse info;
    grpc::ClientContext context;
    calls.server().GetServerInfo(&context, {}, &info);
    return info.workers_size() == 1 && (info.workers(0).state() == v1::WORKER_STATE_READY) == ready;
  }));
  return absl::Now();
}

struct Heard {
  absl::Time by_watch, by_info;
  // A watch that hears first is not late.
  absl::Duration late() const { return std::max(by_watch - by_info, absl::ZeroDuration()); }
};

Heard Hear(const ReelServer& server, HealthWatch& watch, bool ready) {
  Heard heard;
  std::thread info([&] { heard.by_info = WhenTold(server, ready); });
  EXPECT_TRUE(
      watch.WaitFor(ready ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING));
  heard.by_watch = absl::Now();
  info.join();
  return heard;
}

TEST(Health, AWatchHearsOfADeadWorkerAndOfTheNextOne) {
  constexpr int kDeaths = 3;  // each restart waits twice as long as the one before
  ReelServer server;
  HealthWatch watch(server);
  ASSERT_TRUE(watch.WaitFor(HealthCheckResponse::SERVING));
  absl::Duration dead, late;
  for (int i = 0; i < kDeaths; ++i) {
    const std::vector<pid_t> workers = server.Children();
    ASSERT_EQ(workers.size(), 1U);
    const absl::Time killed = absl::Now();
    ::kill(workers[0], SIGKILL);
    const Heard gone = Hear(server, watch, false);
    dead = std::max(dead, gone.by_watch - killed);
    late = std::max({late, gone.late(), Hear(server, watch, true).late()});
  }
  const absl::Time stopped = absl::Now();
  server.Signal(SIGTERM);
  EXPECT_TRUE(watch.WaitFor(HealthCheckResponse::NOT_SERVING));
  const absl::Duration drain = absl::Now() - stopped;
  std::cout << "FIGURE " << kDeaths << " workers killed: a Watch hears of it within " << dead
            << "; of every change at most " << late
            << " after the server tells it; of a SIGTERM after " << drain << "\n";
  EXPECT_LE(dead, kDeadBar);
  EXPECT_LE(late, kWatchBar);
  EXPECT_LE(drain, kWatchBar);
}

}  // namespace
}  // namespace reel::tests
