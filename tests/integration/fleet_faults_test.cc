// SPDX-License-Identifier: Apache-2.0
// A whole fleet under callers who never stop, while its parts die, sleep and come back. The short
// forms run with the others; the group `Long` has the figures of many (by hand, see README.md):
//   ctest --test-dir build/release -L soak -R fleet_faults_soak -V
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

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
  // Which broker leads the log, once each of the others has all of it.
  int Leader() {
    front::FleetLogOptions options;
    options.urls = cluster_->urls();
    options.replicas = cluster_->size();
    options.max_bytes = 64 << 20;
    int leader = -1;
    EXPECT_TRUE(Eventually([&] {
      const auto opened = front::LogConnection::Open(options);
      if (!opened.ok()) return false;
      jsStreamInfo* info = nullptr;
      if (js_GetStreamInfo(&info, (*opened)->jet_stream(), options.stream.c_str(), nullptr,
                           nullptr) != NATS_OK) {
        return false;
      }
      const jsClusterInfo* const cluster = info->Cluster;
      const bool led = cluster != nullptr && cluster->Leader != nullptr &&
                       absl::SimpleAtoi(std::string(cluster->Leader).substr(1), &leader);
      int current = 1;
      for (int i = 0; led && i < cluster->ReplicasLen; ++i) {
        current += cluster->Replicas[i]->Current && !cluster->Replicas[i]->Offline ? 1 : 0;
      }
      jsStreamInfo_Destroy(info);
      return led && current == cluster_->size();
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
    silence_seconds_ = 5;  // nobody's death is waited for, and a busy machine is none
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
        Leader();  // as who updates brokers waits for each
      }
    }
    ASSERT_TRUE(goes_on());
    ExpectNoFaults(callers.Stop());
    std::cout << "FIGURE " << rounds << " updates of four servers and of "
              << (cluster_->size() > 1 ? cluster_->size() : 0) << " brokers\n";
  }

  // Videos a second that so many nodes render, of a queue that does not run dry.
  double RateOf(int nodes) {
    constexpr int kEach = 20;
    for (int i = 1; i <= nodes; ++i) {
      const std::string node = absl::StrCat("n", i);
      if (!servers_.contains(node)) StartNode(node, 20);
    }
    Calls at = At(At("n1"));
    std::vector<std::string> names;
    for (int i = 0; i < nodes * (kEach + 2); ++i) names.push_back(at.Create(Clip(30)).name());
    std::vector<absl::Time> ends;
    for (const std::string& name : names) {
      const v1::Video video = at.Await(name, absl::Seconds(120));
      EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED);
      ends.push_back(absl::FromUnixSeconds(video.end_time().seconds()) +
                     absl::Nanoseconds(video.end_time().nanos()));
    }
    std::sort(ends.begin(), ends.end());
    // Between the first of each node and the last before a node has nothing to do.
    const auto first = static_cast<size_t>(nodes), last = ends.size() - static_cast<size_t>(nodes);
    return static_cast<double>(last - first) / absl::ToDoubleSeconds(ends[last] - ends[first]);
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
  UpdateAll(5);
}

TEST_F(Long, ThroughputGrowsWithNodes) {
  BeginStores(1);
  more_config_ = "scheduler { order: 'fifo' }\n";  // one video at a time, so that none is batched
  const double one = RateOf(1);
  for (const int nodes : {2, 3}) {
    const double rate = RateOf(nodes);
    std::cout << "FIGURE " << nodes << " nodes: " << rate << " videos a second, "
              << rate / (nodes * one) << " of linear; one: " << one << "\n";
    EXPECT_GE(rate, 0.97 * nodes * one);
  }
}

// Of videos that tenant b asks for one after another, each at another node; sorted.
std::vector<absl::Duration> LatenciesOf(const std::vector<std::shared_ptr<grpc::Channel>>& nodes,
                                        const v1::VideoSpec& spec, int videos) {
  std::vector<absl::Duration> took;
  for (int i = 0; i < videos; ++i) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer b");
    v1::GenerateVideoRequest request;
    *request.mutable_spec() = spec;
    const absl::Time asked = absl::Now();
    const auto stub = v1::VideoService::NewStub(nodes[static_cast<size_t>(i) % nodes.size()]);
    const auto reader = stub->GenerateVideo(&context, request);
    v1::GenerateVideoResponse response;
    while (reader->Read(&response)) {
    }
    const grpc::Status status = reader->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    took.push_back(absl::Now() - asked);
  }
  std::sort(took.begin(), took.end());
  return took;
}

TEST_F(Long, ATenantWhoFloodsTheFleetDoesNotSlowAnother) {
  const testing::TempFolder folder;
  const std::string tokens =
      folder.Write("tokens", Sha256Hex("a") + " a user\n" + Sha256Hex("b") + " b user\n");
  ::chmod(tokens.c_str(), 0600);
  more_config_ = absl::StrCat("auth { tokens_file: '", tokens,
                              "' tenants { name: 'a' max_jobs: 100 } tenants { name: 'b' } }\n");
  silence_seconds_ = 5;
  BeginStores(1);
  std::vector<std::shared_ptr<grpc::Channel>> nodes;
  for (const char* const node : {"n1", "n2", "n3"}) nodes.push_back(StartNode(node, 50).Connect());
  const std::vector<absl::Duration> solo = LatenciesOf(nodes, Clip(20), 10);
  std::atomic<bool> stop = false;
  std::atomic<int> taken = 0, refused = 0;
  std::vector<std::thread> flood;
  for (const auto& node : nodes) {
    flood.emplace_back([&, node] {
      const auto stub = v1::VideoService::NewStub(node);
      while (!stop) {
        grpc::ClientContext context;
        context.AddMetadata("authorization", "Bearer a");
        v1::CreateVideoRequest request;
        v1::CreateVideoResponse response;
        *request.mutable_spec() = Clip(20);
        const bool ok = stub->CreateVideo(&context, request, &response).ok();
        ++(ok ? taken : refused);
        if (!ok) absl::SleepFor(absl::Milliseconds(5));
      }
    });
  }
  ASSERT_TRUE(Eventually([&] { return refused > 10; }));
  const std::vector<absl::Duration> beside = LatenciesOf(nodes, Clip(20), 30);
  stop = true;
  for (std::thread& thread : flood) thread.join();
  std::cout << "FIGURE b beside a's flood: longest " << beside.back() << ", median "
            << beside[beside.size() / 2] << "; alone " << solo.back() << ", "
            << solo[solo.size() / 2] << "; of a's " << taken << " were taken, " << refused
            << " refused\n";
  EXPECT_LE(beside.back(), 1.5 * solo.back());
}

TEST_F(FleetFaultsTest, TheBrokersLeaderMayDie) {
  BeginStores(3, false);
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
