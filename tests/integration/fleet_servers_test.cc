// SPDX-License-Identifier: Apache-2.0
// Real servers of one fleet over a real broker: whichever is asked, killed, drained or cut off.
#include <gtest/gtest.h>
#include <signal.h>

#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "tests/integration/calls.h"
#include "tests/integration/fleet_site.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using FleetServersTest = FleetSite;

TEST_F(FleetServersTest, ShareTheWorkAndShowItAlike) {
  ReelServer& a = Add("a", 40);
  ReelServer& b = Add("b", 40);
  Calls at_a = At(a), at_b = At(b);
  std::vector<std::string> names;
  for (int i = 0; i < 8; ++i) {
    Calls& at = i % 2 == 0 ? at_a : at_b;
    names.push_back(at.Create(Spec(absl::StrCat("share ", i))).name());
    EXPECT_EQ(names.back().substr(0, 12), "videos/prod-");
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    // Where it was asked for: the other hears of it a little later.
    (i % 2 == 0 ? at_a : at_b).Await(name);
    const v1::Video seen = at_a.Await(name);
    EXPECT_EQ(seen.state(), v1::VIDEO_STATE_SUCCEEDED) << seen.DebugString();
    EXPECT_EQ(seen.attempt(), 1);
    v1::Video other;
    EXPECT_TRUE(Eventually([&] {
      other = at_b.Get(name);
      return other.SerializeAsString() == seen.SerializeAsString();
    })) << seen.DebugString()
        << "\n"
        << other.DebugString();
    // The file is at one of them, and both serve it.
    std::string from_a, from_b;
    EXPECT_TRUE(at_a.Download(name, 0, &from_a).ok());
    EXPECT_TRUE(at_b.Download(name, 0, &from_b).ok());
    EXPECT_EQ(Sha256Hex(from_a), seen.media().sha256());
    EXPECT_EQ(from_a, from_b);
  }
  EXPECT_EQ(at_a.List().size(), names.size());
  EXPECT_EQ(at_b.List().size(), names.size());
  const double by_a = a.Metric("reel_requests_total", "outcome=\"ok\"");
  const double by_b = b.Metric("reel_requests_total", "outcome=\"ok\"");
  std::cout << "FIGURE rendered by a: " << by_a << ", by b: " << by_b << "\n";
  EXPECT_GE(by_a, 1);
  EXPECT_GE(by_b, 1);
  EXPECT_EQ(by_a + by_b, static_cast<double>(names.size()));
}

TEST_F(FleetServersTest, RenderARequestIdOnceWhoeverIsAskedHowOften) {
  ReelServer& a = Add("a");
  ReelServer& b = Add("b");
  const std::string id = NewRequestId();
  Calls at_a = At(a), at_b = At(b);
  std::mutex mutex;
  std::set<std::string> names;
  std::vector<std::thread> callers;
  for (int i = 0; i < 100; ++i) {
    callers.emplace_back([&, i] {
      const std::string name = (i % 2 == 0 ? at_a : at_b).Create(Spec("once"), id).name();
      const std::lock_guard<std::mutex> lock(mutex);
      names.insert(name);
    });
  }
  for (std::thread& caller : callers) caller.join();
  ASSERT_EQ(names.size(), 1U) << absl::StrJoin(names, ", ");
  EXPECT_EQ(At(b).Await(*names.begin()).state(), v1::VIDEO_STATE_SUCCEEDED);
  EXPECT_EQ(At(a).List().size(), 1U);
  EXPECT_TRUE(Eventually([&] {
    return a.Metric("reel_requests_total", "outcome=\"ok\"") +
               b.Metric("reel_requests_total", "outcome=\"ok\"") ==
           1;
  }));
}

TEST_F(FleetServersTest, StreamEachVideoWhereItIsAskedFor) {
  ReelServer& a = Add("a", 20);
  ReelServer& b = Add("b", 20);
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&, i] {
      const StreamResult stream = At(i % 2 == 0 ? a : b).Generate(Spec(absl::StrCat("stream ", i)));
      EXPECT_TRUE(stream.status.ok()) << stream.status.error_message();
      EXPECT_TRUE(stream.is_finished);
      EXPECT_EQ(stream.restarts, 0);
      EXPECT_TRUE(stream.faults.empty()) << absl::StrJoin(stream.faults, "\n");
      EXPECT_EQ(Sha256Hex(stream.file), stream.finished.media().sha256());
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST_F(FleetServersTest, AGatewayThatComesBackNeverDeniesAModelThatTheFleetServes) {
  Add("a");
  ReelServer& before = AddGateway("gateway");
  before.Signal(SIGKILL);
  ASSERT_TRUE(before.WaitForExit().ok());
  Calls at = At(AddGateway("gateway", false));
  EXPECT_TRUE(Eventually([&] {
    grpc::ClientContext context;
    v1::CreateVideoRequest request;
    *request.mutable_spec() = Spec("again");
    v1::CreateVideoResponse video;
    const grpc::Status created = at.videos().CreateVideo(&context, request, &video);
    EXPECT_NE(created.error_code(), grpc::StatusCode::NOT_FOUND) << created.error_message();
    return created.ok();
  }));
}

TEST_F(FleetServersTest, AKilledOwnersVideoIsFinishedByAnother) {
  ReelServer& a = Add("a", kSlow);
  const std::string name = At(a).Create(Spec("taken over")).name();
  ASSERT_TRUE(Eventually([&] { return At(a).Get(name).progress().step() > 0; }));
  ReelServer& b = Add("b", 10);
  ASSERT_TRUE(Eventually([&] { return At(b).Get(name).state() == v1::VIDEO_STATE_RUNNING; }));
  a.Signal(SIGKILL);
  const absl::Time killed = absl::Now();
  v1::WatchVideoRequest request;
  request.set_name(name);
  const StreamResult stream = At(b).Watch(request);
  EXPECT_TRUE(stream.status.ok()) << stream.status.error_message();
  EXPECT_TRUE(stream.is_finished);
  EXPECT_EQ(stream.restarts, 1);
  EXPECT_TRUE(stream.faults.empty()) << absl::StrJoin(stream.faults, "\n");
  EXPECT_EQ(Sha256Hex(stream.file), At(b).Get(name).media().sha256());
  std::cout << "FIGURE finished " << absl::Now() - killed << " after the kill\n";
}

TEST_F(FleetServersTest, ADrainedServersVideosAreFinishedByAnother) {
  ReelServer& a = Add("a", kSlow);
  std::vector<std::string> names;
  for (int i = 0; i < 4; ++i) names.push_back(At(a).Create(Spec(absl::StrCat("drain ", i))).name());
  ASSERT_TRUE(Eventually([&] { return At(a).Get(names[0]).progress().step() > 0; }));
  ReelServer& b = Add("b", 10);
  a.Signal(SIGTERM);
  const auto exit = a.WaitForExit();
  ASSERT_TRUE(exit.ok()) << exit.status();
  EXPECT_EQ(*exit, 0);
  for (const std::string& name : names) {
    EXPECT_EQ(At(b).Await(name).state(), v1::VIDEO_STATE_SUCCEEDED) << name;
  }
}

TEST_F(FleetServersTest, AServerThatComesBackGoesOnWithWhatItHad) {
  ReelServer& a = Add("a", kSlow);
  const std::string name = At(a).Create(Spec("again")).name();
  ASSERT_TRUE(Eventually([&] { return At(a).Get(name).progress().step() > 0; }));
  a.Signal(SIGKILL);
  ASSERT_TRUE(a.WaitForExit().ok());
  ReelServer& same = Add("a", 10);  // on a new disk: the log is what counts
  EXPECT_EQ(At(same).Await(name).state(), v1::VIDEO_STATE_SUCCEEDED);
}

TEST_F(FleetServersTest, ACancelReachesTheOwnerFromAnywhere) {
  ReelServer& a = Add("a", kSlow);
  const std::string name = At(a).Create(Spec("cancelled")).name();
  ASSERT_TRUE(Eventually([&] { return At(a).Get(name).progress().step() > 0; }));
  ReelServer& b = Add("b", kSlow);
  ASSERT_TRUE(Eventually([&] { return At(b).Get(name).state() == v1::VIDEO_STATE_RUNNING; }));
  grpc::ClientContext context;
  v1::CancelVideoRequest request;
  v1::CancelVideoResponse response;
  request.set_name(name);
  const absl::Time asked = absl::Now();
  const grpc::Status status = At(b).videos().CancelVideo(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(Eventually([&] { return At(b).Get(name).state() == v1::VIDEO_STATE_CANCELLED; }));
  std::cout << "FIGURE cancelled after " << absl::Now() - asked << "\n";
  EXPECT_EQ(At(a).Get(name).state(), v1::VIDEO_STATE_CANCELLED);
}

TEST_F(FleetServersTest, WithoutTheBrokerNothingIsTakenAndNothingIsLost) {
  ReelServer& a = Add("a", 100);
  const std::string name = At(a).Create(Spec("goes on")).name();
  ASSERT_TRUE(Eventually([&] { return At(a).Get(name).progress().step() > 0; }));
  cluster_->Kill(0);
  EXPECT_TRUE(Eventually([&] {
    grpc::ClientContext context;
    v1::CreateVideoRequest request;
    v1::CreateVideoResponse response;
    *request.mutable_spec() = Spec("refused");
    return ReasonOf(At(a).videos().CreateVideo(&context, request, &response)) ==
           "FLEET_UNAVAILABLE";
  }));
  EXPECT_TRUE(Eventually([&] { return a.Get("/readyz").empty(); }));
  cluster_->Start(0);
  EXPECT_EQ(At(a).Await(name).state(), v1::VIDEO_STATE_SUCCEEDED);
  EXPECT_TRUE(Eventually([&] { return !a.Get("/readyz").empty(); }));
  const std::string later = At(a).Create(Spec("taken")).name();
  EXPECT_EQ(At(a).Await(later).state(), v1::VIDEO_STATE_SUCCEEDED);
}

}  // namespace
}  // namespace reel::tests
