// SPDX-License-Identifier: Apache-2.0
// A fleet that grows out of one server: what that had, what more nodes render, and who gets it. The
// group `Long` measures (by hand, on a machine that does nothing else).
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/integration/fleet_whole_site.h"

namespace reel::tests {
namespace {

class FleetGrowthTest : public FleetWholeSite {
 protected:
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
};

using Long = FleetGrowthTest;

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

TEST_F(FleetGrowthTest, AServersOwnPastIsServedAndALostViewIsRebuilt) {
  std::string past;
  std::string before;
  {
    ServerSetup alone;
    alone.data_folder = DiskOf("n1");
    ReelServer server(alone);
    past = At(server).Create(Clip(2)).name();
    ASSERT_EQ(At(server).Await(past).state(), v1::VIDEO_STATE_SUCCEEDED);
    ASSERT_TRUE(At(server).Download(past, 0, &before).ok());
  }
  BeginStores(1);
  StartNode("n1", 10);
  const std::string name = At(At("n1")).Create(Clip(2)).name();
  ASSERT_EQ(At(At("n1")).Await(name).state(), v1::VIDEO_STATE_SUCCEEDED);
  const auto expect_both = [&] {
    std::string bytes;
    EXPECT_TRUE(At(At("n1")).Download(past, 0, &bytes).ok());
    EXPECT_EQ(bytes, before);
    bytes.clear();
    EXPECT_TRUE(At(At("n1")).Download(name, 0, &bytes).ok());
    EXPECT_EQ(Sha256Hex(bytes), At(At("n1")).Get(name).media().sha256());
    EXPECT_EQ(At(At("n1")).List().size(), 2U);
  };
  expect_both();
  // What it knows of the fleet is not on its disk.
  Kill("n1");
  Restart("n1");
  expect_both();
  // A broker that has lost everything: nothing is deleted here, nor in the store.
  Kill("n1");
  cluster_ = std::make_unique<NatsCluster>(1);
  Restart("n1");
  std::string bytes;
  EXPECT_TRUE(At(At("n1")).Download(past, 0, &bytes).ok());
  EXPECT_EQ(bytes, before);
  EXPECT_EQ(store_->Keys("prod/media/").size(), 1U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(DiskOf("n1") + "/media"), {}), 2);
  const std::string later = At(At("n1")).Create(Clip(2)).name();
  EXPECT_EQ(At(At("n1")).Await(later).state(), v1::VIDEO_STATE_SUCCEEDED);
}

// Of videos that a tenant asks for one after another, each at another node; sorted.
std::vector<absl::Duration> LatenciesOf(const std::string& tenant,
                                        const std::vector<std::shared_ptr<grpc::Channel>>& nodes,
                                        const v1::VideoSpec& spec, int videos) {
  std::vector<absl::Duration> took;
  for (int i = 0; i < videos; ++i) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + tenant);
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
  const std::string tokens = folder.Write("tokens", Sha256Hex("a") + " a user\n" + Sha256Hex("b") +
                                                        " b user\n" + Sha256Hex("c") + " c user\n");
  ::chmod(tokens.c_str(), 0600);
  more_config_ = absl::StrCat(
      "auth { tokens_file: '", tokens,
      "' tenants { name: 'a' max_jobs: 100 } tenants { name: 'b' } tenants { name: 'c' } }\n");
  silence_seconds_ = lease_seconds_ = 5;
  BeginStores(1);
  std::vector<std::shared_ptr<grpc::Channel>> nodes;
  for (const char* const node : {"n1", "n2", "n3"}) nodes.push_back(StartNode(node, 50).Connect());
  const std::vector<absl::Duration> solo = LatenciesOf("c", nodes, Clip(20), 6);
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
  // Its queue is full, and it has used the devices for some time.
  EXPECT_TRUE(Eventually([&] { return taken > 150 && refused > 10; }));
  const std::vector<absl::Duration> beside = LatenciesOf("b", nodes, Clip(20), 20);
  stop = true;
  for (std::thread& thread : flood) thread.join();
  std::cout << "FIGURE b beside a's flood: longest " << beside.back() << ", median "
            << beside[beside.size() / 2] << "; alone " << solo.back() << ", "
            << solo[solo.size() / 2] << "; of a's " << taken << " were taken, " << refused
            << " refused\n";
  EXPECT_LE(beside.back(), 1.5 * solo.back());
}

}  // namespace
}  // namespace reel::tests
