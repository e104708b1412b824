// SPDX-License-Identifier: Apache-2.0
// The listener never dies unnoticed, and callers that do are noticed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/integration/calls.h"
#include "tests/integration/idle_sockets.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

size_t OpenDescriptors(pid_t process) {
  std::error_code ignored;
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(absl::StrCat("/proc/", process, "/fd"), ignored)) {
    ++count;
  }
  return count;
}

bool Answers(const ReelServer& server) {
  const auto stub = v1::ServerService::NewStub(server.Connect());
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(1)));
  v1::GetServerInfoResponse info;
  return stub->GetServerInfo(&context, {}, &info).ok();
}

// gRPC 1.51 stops listening for good when it once has no descriptor for a caller. A dead listener
// must end the process, so that whoever supervises it starts another.
TEST(Listener, OutOfDescriptorsItServesAgainOrEnds) {
  constexpr absl::Duration kLimit = absl::Seconds(20);
  ReelServer server;
  const size_t before = OpenDescriptors(server.pid());
  const rlimit few{before + 30, before + 30};
  ASSERT_EQ(::prlimit(server.pid(), RLIMIT_NOFILE, &few, nullptr), 0);
  absl::Time out;
  {
    const IdleSockets sockets(server.address(), 200);
    ASSERT_EQ(sockets.size(), 200U);
    // It has run out, not only come near: the system's word for that is in its log.
    ASSERT_TRUE(Eventually([&] { return absl::StrContains(server.Log(), "Too many open files"); }));
    out = absl::Now();
  }
  // All of them have gone: a listener that is alive has room for everybody again.
  const bool ended_or_serves =
      Eventually([&] { return Answers(server) || !server.Alive(); }, kLimit);
  const bool serves = server.Alive();
  std::cout << "FIGURE 200 idle sockets, room for 30: " << (serves ? "serving" : "ended")
            << " after " << absl::Now() - out << "\n";
  ASSERT_TRUE(ended_or_serves) << "alive, and nobody is served";
  if (serves) return;
  constexpr int kListenerIsDead = 3;
  EXPECT_EQ(server.WaitForExit().value_or(-1), kListenerIsDead);
}

// By hand: ctest --test-dir build/release -L soak. A caller whose machine has frozen answers no
// ping: 30 s after its last word comes the first one, and 10 s later its end.
TEST(Long, AFrozenCallerIsNoticed) {
  constexpr absl::Duration kKeepalive = absl::Seconds(30), kTimeout = absl::Seconds(10);
  ServerSetup setup;
  setup.config = SlowConfig(900) + "timing { heartbeat { seconds: 10 } }";
  ReelServer server(setup);
  Calls calls(server.Connect());
  v1::VideoSpec spec = SmallSpec("x");
  spec.set_num_inference_steps(100);
  const std::string name = calls.Create(spec).name();
  Program caller(BinaryPath("reel"), {"--server", server.address(), "watch", name});
  ASSERT_TRUE(Eventually([&] { return server.Metric("reel_open_streams") == 1; }));
  caller.Signal(SIGSTOP);
  const absl::Time frozen = absl::Now();
  ASSERT_TRUE(Eventually([&] { return server.Metric("reel_open_streams") == 0; }));
  const absl::Duration noticed = absl::Now() - frozen;
  std::cout << "FIGURE a frozen caller: noticed after " << noticed << "\n";
  EXPECT_LE(noticed, kKeepalive + kTimeout + absl::Seconds(1));
}

}  // namespace
}  // namespace reel::tests
