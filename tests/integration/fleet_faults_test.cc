// SPDX-License-Identifier: Apache-2.0
// A whole fleet under callers who never stop, while its parts die, sleep and come back. The short
// forms run with the others; the group `Long` has the figures of many (by hand, see README.md):
//   ctest --test-dir build/release -L soak -R fleet_faults_soak -V
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "server/front/fleet/log_connection.h"
#include "tests/integration/fleet_whole_site.h"

namespace reel::tests {
namespace {

constexpr absl::Duration kBarOfRestart = absl::Seconds(kWholeSilenceSeconds + 2);
constexpr absl::Duration kBarOfSubmits = absl::Seconds(15);

class FleetFaultsTest : public FleetWholeSite {
 protected:
  // Which broker leads the log, once so many of the others have all of it.
  int Leader(int others = 0) {
    front::FleetLogOptions options;
    options.urls = cluster_->urls();
    options.fleet = "prod";
    options.replicas = cluster_->size();
    options.max_bytes = 64 << 20;
    int leader = -1;
    EXPECT_TRUE(Eventually([&] {
      const auto opened = front::LogConnection::Open(options);
      if (!opened.ok()) return false;
      jsStreamInfo* info = nullptr;
      if (js_GetStreamInfo(&info, (*opened)->jet_stream(), (*opened)->names().stream().c_str(),
                           nullptr, nullptr) != NATS_OK) {
        return false;
      }
      const jsClusterInfo* const cluster = info->Cluster;
      const bool led = cluster != nullptr && cluster->Leader != nullptr &&
                       absl::SimpleAtoi(std::string(cluster->Leader).substr(1), &leader);
      int current = 0;
      for (int i = 0; led && i < cluster->ReplicasLen; ++i) {
        current += cluster->Replicas[i]->Current && !cluster->Replicas[i]->Offline ? 1 : 0;
      }
      jsStreamInfo_Destroy(info);
      return led && current >= others;
    }));
    return leader;
  }
  // Until a server takes a video; how long that took. What it says until then is clear.
  absl::Duration UntilTaken(const std::string& node) {
    const absl::Time began = absl::Now();
    EXPECT_TRUE(Eventually([&] {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(15));
      v1::CreateVideoRequest request;
      v1::CreateVideoResponse response;
      *request.mutable_spec() = Clip(2);
      const grpc::Status status = At(At(node)).videos().CreateVideo(&context, request, &response);
      if (!status.ok()) {
        EXPECT_EQ(ReasonOf(status), "FLEET_UNAVAILABLE") << status.error_message();
      }
      return status.ok();
    }));
    return absl::Now() - began;
  }

  void KillNodes(int kills) {
    BeginStores(1);
    callers_ask_nodes_ = false;
    for (const char* const node : {"n1", "n2", "n3"}) StartNode(node, 50);
    StartGateway("g1");
    FleetCallers callers(addresses_, 2, Clip(20));
    for (int i = 0; i < kills; ++i) {
      std::string victim;
      ASSERT_TRUE(Eventually([&] { return !(victim = WhoRenders()).empty(); }));
      Kill(victim);
      // Others finish what it had before it is back.
      const std::vector<int> before = callers.finished_by_caller();
      ASSERT_TRUE(Eventually([&] {
        return std::ranges::equal(callers.finished_by_caller(), before, std::greater<>());
      }));
      Restart(victim);
    }
    const CallersReport report = callers.Stop();
    ExpectNoFaults(report);
    EXPECT_LE(report.most_restarts, 1);
    // A killed one may have just ended its video.
    EXPECT_GE(2 * report.restarts, kills);
    EXPECT_LE(report.longest_restart, kBarOfRestart);
    EXPECT_EQ(report.resumed, 0);
    std::cout << "FIGURE " << kills << " nodes killed\n";
  }

  void KillGateways(int kills) {
    silence_seconds_ = lease_seconds_ =
        5;  // nobody's death is waited for, and a busy machine is none
    BeginStores(1);
    callers_ask_nodes_ = false;
    for (const char* const node : {"n1", "n2"}) StartNode(node, 50);
    for (const char* const node : {"g1", "g2"}) StartGateway(node);
    FleetCallers callers(addresses_, 2, Clip(20));
    for (int i = 0; i < kills; ++i) {
      // While both stream.
      const int before = callers.steps();
      ASSERT_TRUE(Eventually([&] { return callers.steps() > before + 6; }));
      const std::string victim = i % 2 == 0 ? "g1" : "g2";
      Kill(victim);
      Restart(victim);
    }
    const CallersReport report = callers.Stop();
    ExpectNoFaults(report);
    EXPECT_EQ(report.restarts, 0);
    EXPECT_GE(2 * report.resumed, kills);
    std::cout << "FIGURE " << kills << " gateways killed\n";
  }

  // Returns when it stands still, and goes on after `time`.
  void PauseFor(const std::string& node, absl::Duration time) {
    At(node).Signal(SIGSTOP);
    absl::SleepFor(time);  // the promise names a time
    At(node).Signal(SIGCONT);
  }
  // Nodes and gateways that sleep; nobody is replaced, so that each end that counted is counted.
  void PauseAll(int rounds, absl::Duration time) {
    BeginStores(1);
    callers_ask_nodes_ = false;
    for (const char* const node : {"n1", "n2"}) StartNode(node, 50);
    for (const char* const node : {"g1", "g2"}) StartGateway(node);
    FleetCallers callers(addresses_, 2, Clip(20));
    const auto goes_on = [&] {
      const int before = callers.finished();
      return Eventually([&] { return callers.finished() > before + 1; });
    };
    for (int i = 0; i < rounds; ++i) {
      std::string victim;
      ASSERT_TRUE(Eventually([&] { return !(victim = WhoRenders()).empty(); }));
      PauseFor(victim, time);
      ASSERT_TRUE(goes_on());
      PauseFor(i % 2 == 0 ? "g1" : "g2", time);
      ASSERT_TRUE(goes_on());
    }
    const CallersReport report = callers.Stop();
    ExpectNoFaults(report);
    EXPECT_LE(report.most_restarts, 1);
    EXPECT_GE(report.restarts, 1);
    EXPECT_EQ(Succeeded(), static_cast<double>(report.names.size()));
    std::cout << "FIGURE " << rounds << " nodes and gateways paused for " << time << "\n";
  }

  // Everything that is there is replaced, one after another.
  void UpdateAll(int rounds) {
    for (const char* const node : {"n1", "n2"}) StartNode(node, 50);
    for (const char* const node : {"g1", "g2"}) StartGateway(node);
    FleetCallers callers(addresses_, 3, Clip(20));
    const auto goes_on = [&] {
      const int before = callers.finished();
      return Eventually([&] { return callers.finished() > before; });
    };
    for (int i = 0; i < rounds; ++i) {
      for (const char* const server : {"g1", "n1", "g2", "n2"}) {
        ASSERT_TRUE(goes_on());
        Replace(server);
      }
      for (int broker = 0; cluster_->size() > 1 && broker < cluster_->size(); ++broker) {
        ASSERT_TRUE(goes_on());
        LoseBrokers({broker}, absl::ZeroDuration());
        Leader(cluster_->size() - 1);  // as who updates brokers waits for each
      }
    }
    ASSERT_TRUE(goes_on());
    ExpectNoFaults(callers.Stop());
    std::cout << "FIGURE " << rounds << " updates of four servers and of "
              << (cluster_->size() > 1 ? cluster_->size() : 0) << " brokers\n";
  }

  // Brokers in `victims` are gone for `away`. Returns how long submits took from their return on,
  // or from their death where the others are a majority.
  absl::Duration LoseBrokers(const std::vector<int>& victims, absl::Duration away) {
    for (const int victim : victims) cluster_->Kill(victim);
    const bool majority = 2 * victims.size() < static_cast<size_t>(cluster_->size());
    absl::Duration took;
    if (majority) took = UntilTaken("n1");
    if (away > absl::ZeroDuration()) absl::SleepFor(away);  // the promise names a time
    for (const int victim : victims) cluster_->Start(victim);
    if (!majority) took = UntilTaken("n1");
    EXPECT_LE(took, kBarOfSubmits);
    std::cout << "FIGURE " << victims.size() << " of " << cluster_->size() << " brokers away for "
              << away << ": submits work again after " << took << "\n";
    return took;
  }
};

using Long = FleetFaultsTest;

TEST_F(FleetFaultsTest, NodesThatDieCostOneRestart) { KillNodes(2); }
TEST_F(Long, FiftyNodesThatDieCostOneRestartEach) { KillNodes(50); }

TEST_F(FleetFaultsTest, GatewaysThatDieCostNothing) { KillGateways(2); }
TEST_F(Long, FiftyGatewaysThatDieCostNothing) { KillGateways(50); }

TEST_F(FleetFaultsTest, ServersThatSleepDeliverNothingTwice) { PauseAll(1, absl::Seconds(2)); }
TEST_F(Long, ServersThatSleepForHalfAMinuteDeliverNothingTwice) { PauseAll(3, absl::Seconds(30)); }

TEST_F(FleetFaultsTest, ACancelThroughAnyServerTakesOneStepAtMost) {
  constexpr int kStepMs = 300;
  BeginStores(1, false);
  for (const char* const node : {"n1", "n2"}) StartNode(node, kStepMs);
  StartGateway("g1");
  absl::Duration longest;
  for (const char* const asked : {"g1", "n1", "n2", "g1", "n1", "n2"}) {
    Calls at = At(At(asked));
    const std::string name = at.Create(Clip(40)).name();
    v1::WatchVideoRequest watch;
    watch.set_name(name);
    absl::Time cancelled = absl::InfiniteFuture();
    const StreamResult stream = at.Watch(watch, [&](const v1::VideoEvent& event) {
      if (!event.has_progress() || event.progress().step() < 1) return true;
      if (cancelled != absl::InfiniteFuture()) return true;
      grpc::ClientContext context;
      v1::CancelVideoRequest request;
      v1::CancelVideoResponse response;
      request.set_name(name);
      cancelled = absl::Now();
      EXPECT_TRUE(at.videos().CancelVideo(&context, request, &response).ok());
      return true;
    });
    longest = std::max(longest, absl::Now() - cancelled);
    EXPECT_EQ(stream.reason(), "CANCELLED_BY_OWNER");
    // And its worker is free.
    EXPECT_TRUE(Eventually([&] { return WhoRenders().empty(); }));
  }
  EXPECT_LE(longest, absl::Milliseconds(kStepMs + 250));
  std::cout << "FIGURE six cancels, the longest " << longest << ", a step is " << kStepMs
            << " ms\n";
}

TEST_F(Long, EverythingIsReplacedOneByOneAndNoCallFails) {
  BeginStores(3);
  Leader();
  UpdateAll(5);
}

TEST_F(FleetFaultsTest, TheBrokersLeaderMayDie) {
  BeginStores(3, false);
  Leader();  // brokers find each other
  for (const char* const node : {"n1", "n2"}) StartNode(node, 50);
  FleetCallers callers(addresses_, 2, Clip(20));
  ASSERT_TRUE(Eventually([&] { return callers.finished() > 0; }));
  LoseBrokers({Leader()}, absl::ZeroDuration());
  const int before = callers.finished();
  ASSERT_TRUE(Eventually([&] { return callers.finished() > before + 1; }));
  const CallersReport report = callers.Stop();
  ExpectNoFaults(report);
  EXPECT_EQ(report.restarts, 0);
}

TEST_F(Long, BrokersMayDieOneByOneTwoAtOnceAndAllAtOnce) {
  BeginStores(3, false);
  Leader();  // brokers find each other
  lease_seconds_ = 15;
  for (const char* const node : {"n1", "n2"}) StartNode(node, 50);
  FleetCallers callers(addresses_, 2, Clip(20));
  ASSERT_TRUE(Eventually([&] { return callers.finished() > 0; }));
  const auto goes_on = [&] {
    const int before = callers.finished();
    return Eventually([&] { return callers.finished() > before + 2; });
  };
  for (int i = 0; i < 5; ++i) {
    LoseBrokers({Leader()}, absl::ZeroDuration());
    ASSERT_TRUE(goes_on());
  }
  for (int i = 0; i < 3; ++i) {
    const int leader = Leader();
    LoseBrokers({leader, (leader + 1) % 3}, absl::Seconds(12));
    ASSERT_TRUE(goes_on());
    LoseBrokers({0, 1, 2}, absl::Seconds(3));
    ASSERT_TRUE(goes_on());
  }
  ExpectNoFaults(callers.Stop());
}

}  // namespace
}  // namespace reel::tests
