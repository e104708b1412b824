// SPDX-License-Identifier: Apache-2.0
// Real servers of one fleet, a real broker and a real object store: whatever of it goes away.
#include <gtest/gtest.h>
#include <httplib.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "tests/integration/broker_and_store.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"
#include "tests/integration/small_disk.h"

namespace reel::tests {
namespace {

class FleetObjectsTest : public BrokerAndStoreTest {
 protected:
  std::string Config(const std::string& node, int backlog) const {
    return absl::StrCat(
        "models { name: 'testcard' test_card { step_time { nanos: 10000000 } } }\n",
        "data { max_bytes: 1000000000 }\n timing { drain { seconds: 1 } }\n",
        "http { listen: '127.0.0.1:0' }\n", "fleet { name: '", fleet_, "' node: '", node,
        "' advertise: '", node, ".test:50051' nats { urls: '", cluster_->urls()[0],
        "' max_bytes: 67108864 }", " objects { endpoint: '", store_->endpoint(),
        "' bucket: 'reel' credentials_file: '", store_->credentials_file(),
        "' deliver_backlog: ", backlog, " }",
        " beat { nanos: 200000000 } silence { seconds: 1 } lease { seconds: 4 } }\n");
  }
  ReelServer& Add(const std::string& node, int backlog = 32, const std::string& folder = "") {
    ServerSetup setup;
    setup.config = Config(node, backlog);
    setup.data_folder = folder;
    auto& server = servers_[fleet_ + node];
    server = std::make_unique<ReelServer>(setup);
    return *server;
  }
  static Calls At(const ReelServer& server) { return Calls(server.Connect()); }
  static std::vector<std::string> Ask(Calls& at, int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) {
      names.push_back(at.Create(SmallSpec(absl::StrCat("object ", i))).name());
    }
    return names;
  }
  // What people and probes are told.
  static std::string Readiness(const ReelServer& server) {
    httplib::Client client("http://" + server.metrics_address());
    const httplib::Result result = client.Get("/readyz");
    return result ? absl::StrCat(result->status, " ", result->body) : "";
  }
  // How many are done; of each of those the object is there.
  size_t Done(Calls& at, const std::vector<std::string>& names) {
    size_t done = 0;
    for (const std::string& name : names) {
      const v1::Video video = at.Get(name);
      if (video.state() != v1::VIDEO_STATE_SUCCEEDED) continue;
      ++done;
      const auto keys = store_->Keys("prod/media/default/" + name.substr(7) + "/");
      EXPECT_EQ(keys.size(), 1U) << name;
      EXPECT_EQ(keys.empty() ? "" : Sha256Hex(store_->Read(keys[0])), video.media().sha256());
    }
    return done;
  }
  // From when all is rendered.
  void LoseTheStoreFor(absl::Duration away) {
    store_ = std::make_unique<S3Server>();
    ReelServer& a = Add("a");
    ReelServer& b = Add("b");
    Calls at_a = At(a), at_b = At(b);
    std::vector<std::string> names = Ask(at_a, 2);
    ExpectAllDone(at_a, names);
    store_->Kill();
    for (const std::string& name : Ask(at_b, 6)) names.push_back(name);
    ASSERT_TRUE(Eventually([&] { return NumFiles(a) + NumFiles(b) == names.size(); }));
    EXPECT_FALSE(Eventually([&] { return Done(at_b, names) > 2; }, away));
    store_->Start();
    const absl::Time back = absl::Now();
    ExpectAllDone(at_b, names);
    std::cout << "FIGURE 6 results delivered " << absl::Now() - back
              << " after the store came back\n";
  }
  // What it has rendered.
  static size_t NumFiles(const ReelServer& server) {
    const std::filesystem::directory_iterator files(server.data_folder() + "/media");
    return static_cast<size_t>(std::count_if(
        begin(files), end(files), [](const auto& file) { return file.file_size() > 0; }));
  }
  void ExpectAllDone(Calls& at, const std::vector<std::string>& names) {
    EXPECT_TRUE(Eventually([&] { return Done(at, names) == names.size(); }));
  }

  std::string fleet_ = "prod";  // of servers that are added from then on
  std::unique_ptr<S3Server> store_;
  std::map<std::string, std::unique_ptr<ReelServer>> servers_;
};

TEST_F(FleetObjectsTest, TwoFleetsOfOneBrokerAndOneBucketShareNothing) {
  store_ = std::make_unique<S3Server>();
  std::map<std::string, ReelServer*> nodes;
  std::map<std::string, std::vector<std::string>> names;
  for (const char* const fleet : {"prod", "studio"}) {
    fleet_ = fleet;
    nodes[fleet] = &Add("one");  // of one name in both
  }
  for (auto& [fleet, node] : nodes) {
    Calls at = At(*node);
    names[fleet] = Ask(at, 4);
  }
  for (auto& [fleet, node] : nodes) {
    Calls at = At(*node);
    for (const std::string& name : names[fleet]) {
      EXPECT_EQ(at.Await(name).state(), v1::VIDEO_STATE_SUCCEEDED) << name;
    }
    EXPECT_EQ(at.List().size(), 4U) << fleet;
    EXPECT_EQ(node->Metric("reel_requests_total", "outcome=\"ok\""), 4) << fleet;
    EXPECT_TRUE(Eventually([&] {
      return node->Metric("reel_fleet_nodes", "state=\"serving\"") == 1;
    })) << fleet;
    EXPECT_EQ(store_->Keys(fleet + "/media/").size(), 4U) << fleet;
  }
}

TEST_F(FleetObjectsTest, AResultIsServedByAServerThatNeverHadItAfterItsOwnersDeath) {
  store_ = std::make_unique<S3Server>();
  ReelServer& a = Add("a");
  Calls at_a = At(a);
  const std::string name = Ask(at_a, 1)[0];
  ASSERT_EQ(at_a.Await(name).state(), v1::VIDEO_STATE_SUCCEEDED);
  a.Signal(SIGKILL);
  ASSERT_TRUE(a.WaitForExit().ok());
  ReelServer& b = Add("b");
  Calls at_b = At(b);
  const v1::Video video = at_b.Get(name);
  ASSERT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED);
  std::string whole, rest;
  const absl::Time began = absl::Now();
  ASSERT_TRUE(at_b.Download(name, 0, &whole).ok());
  std::cout << "FIGURE " << whole.size() << " bytes from the store after " << absl::Now() - began
            << "\n";
  EXPECT_EQ(Sha256Hex(whole), video.media().sha256());
  ASSERT_TRUE(at_b.Download(name, 1000, &rest).ok());
  EXPECT_EQ(rest, whole.substr(1000));
  // A stream has all of it, too, and so has a browser.
  v1::WatchVideoRequest request;
  request.set_name(name);
  const StreamResult stream = at_b.Watch(request);
  EXPECT_TRUE(stream.status.ok()) << stream.status.error_message();
  EXPECT_TRUE(stream.is_finished);
  EXPECT_TRUE(stream.faults.empty());
  EXPECT_EQ(stream.file, whole);
  httplib::Client browser("http://" + b.http_address());
  const auto part =
      browser.Get("/reel/v1/" + name + "/media", httplib::Headers{{"Range", "bytes=100-299"}});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->status, 206);
  EXPECT_EQ(part->body, whole.substr(100, 200));
}

TEST_F(FleetObjectsTest, WhileTheStoreIsAwayNothingIsLostAndNothingSucceeds) {
  LoseTheStoreFor(absl::ZeroDuration());
}

// ctest -L soak
using Long = FleetObjectsTest;
TEST_F(Long, AStoreThatIsAwayForAMinute) { LoseTheStoreFor(absl::Minutes(1)); }

TEST_F(FleetObjectsTest, WrongCredentialsAreToldAndHealedByTheFile) {
  store_ = std::make_unique<S3Server>();
  ReelServer& a = Add("a", 2);
  Calls at_a = At(a);
  store_->WriteCredentials("wrong");
  const std::vector<std::string> names = Ask(at_a, 4);
  ASSERT_TRUE(Eventually([&] { return absl::StartsWith(Readiness(a), "503"); }));
  EXPECT_TRUE(absl::StrContains(Readiness(a), "The object store refuses the credentials"))
      << Readiness(a);
  EXPECT_TRUE(absl::StrContains(Readiness(a), "nothing more is rendered here")) << Readiness(a);
  EXPECT_FALSE(absl::StrContains(a.Log(), S3Server::kSecret));
  EXPECT_EQ(Done(at_a, names), 0U);
  store_->WriteCredentials();
  ExpectAllDone(at_a, names);
  EXPECT_TRUE(Eventually([&] { return absl::StartsWith(Readiness(a), "200"); }));
}

TEST_F(FleetObjectsTest, AStartWithWrongCredentialsIsRefusedWithWords) {
  store_ = std::make_unique<S3Server>();
  store_->WriteCredentials("wrong");
  testing::TempFolder folder;
  const std::string config = folder.Write(
      "reel.textproto",
      absl::StrCat("listen: '127.0.0.1:0' metrics_listen: '127.0.0.1:0'\n", Config("a", 2)));
  const ProgramResult run =
      RunProgram(BinaryPath("reeld"), {"--config=" + config, "--data_dir=" + folder.File("data")});
  EXPECT_EQ(run.status, 1);
  EXPECT_TRUE(absl::StrContains(run.errors, "The object store refuses the credentials"))
      << run.errors;
}

TEST_F(FleetObjectsTest, AFullStoreIsWaitedFor) {
  const SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "SKIPPED: no right to mount here";
  store_ = std::make_unique<S3Server>(disk.path("store"));
  ReelServer& a = Add("a", 2);
  Calls at_a = At(a);
  const std::string filler = disk.path("filler");
  std::ofstream(filler, std::ios::binary) << std::string(4 << 20, 'x');  // as far as it goes
  const std::vector<std::string> names = Ask(at_a, 3);
  ASSERT_TRUE(Eventually([&] { return absl::StartsWith(Readiness(a), "503"); }));
  EXPECT_TRUE(absl::StrContains(Readiness(a), "The object store is full")) << Readiness(a);
  EXPECT_EQ(Done(at_a, names), 0U);
  std::filesystem::remove(filler);
  ExpectAllDone(at_a, names);
}

TEST_F(FleetObjectsTest, WhatWaitedWhenItsServerWasKilledIsDeliveredByTheNextProcess) {
  store_ = std::make_unique<S3Server>();
  testing::TempFolder folder;
  ReelServer& a = Add("a", 1, folder.File("data"));
  Calls at_a = At(a);
  store_->Pause();
  const std::vector<std::string> names = Ask(at_a, 3);
  ASSERT_TRUE(Eventually([&] { return absl::StartsWith(Readiness(a), "503"); }));
  a.Signal(SIGKILL);
  ASSERT_TRUE(a.WaitForExit().ok());
  store_->Resume();
  ReelServer& again = Add("a", 1, folder.File("data"));
  Calls at_again = At(again);
  ExpectAllDone(at_again, names);
  // What the first process has rendered no other has.
  const std::string log = again.Log();
  const std::vector<absl::string_view> told =
      absl::StrSplit(log, "an earlier process has rendered is delivered");
  const auto delivered = static_cast<double>(told.size() - 1);
  EXPECT_GE(delivered, 1);
  EXPECT_EQ(again.Metric("reel_requests_total", "outcome=\"ok\""), 3 - delivered);
}

}  // namespace
}  // namespace reel::tests
