// SPDX-License-Identifier: Apache-2.0
// Peers of the HTTP door that leave, stall, are many or mean harm, and what that costs others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/integration/calls.h"
#include "tests/integration/door_client.h"
#include "tests/integration/idle_sockets.h"

namespace reel::tests {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr char kJsonType[] = "application/json";

double P99(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() * 99 / 100];
}

std::string EventsRequest(const std::string& id) {
  return "GET /reel/v1/videos/" + id + "/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

// A connected socket that has sent its request.
int SendTo(const std::string& address, const std::string& text) {
  const int fd = ConnectTo(address);
  EXPECT_GE(fd, 0);
  EXPECT_EQ(::send(fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  return fd;
}

TEST(DoorPeers, LeavingFreesTheConnectionAndTheJob) {
  ReelServer server(WithDoor(SlowConfig(100)));
  httplib::Client client = ClientOf(server.http_address());
  const std::string id = CreateOverHttp(client, ClipSpec(100));
  std::vector<int> readers;
  for (int i = 0; i < 200; ++i) {
    readers.push_back(SendTo(server.http_address(), EventsRequest(id)));
    char byte = 0;
    EXPECT_EQ(::recv(readers.back(), &byte, 1, 0), 1);
  }
  EXPECT_GE(server.Metric("reel_http_connections"), 200);
  const auto left = std::chrono::steady_clock::now();
  for (const int fd : readers) ::close(fd);
  EXPECT_TRUE(Eventually([&] { return server.Metric("reel_http_connections") <= 1; }));
  const double freed = Seconds(std::chrono::steady_clock::now() - left).count();
  EXPECT_LE(freed, 5);
  client.Post("/reel/v1/videos/" + id + ":cancel", "", kJsonType);

  // A bound job goes with its connection.
  const std::string body = BodyOfSpec(ClipSpec(100));
  const int bound =
      SendTo(server.http_address(),
             absl::StrCat("POST /reel/v1/videos:generate HTTP/1.1\r\nHost: localhost\r\n"
                          "Content-Type: application/json\r\nContent-Length: ",
                          body.size(), "\r\n\r\n", body));
  std::string text;
  char piece[4096];
  while (!absl::StrContains(text, "\"step\":2")) {
    const ssize_t got = ::recv(bound, piece, sizeof piece, 0);
    ASSERT_GT(got, 0) << text;
    text.append(piece, static_cast<size_t>(got));
  }
  const auto gone = std::chrono::steady_clock::now();
  ::close(bound);
  Calls calls(server.Connect());
  EXPECT_TRUE(Eventually([&] {
    const auto videos = calls.List();
    return std::all_of(videos.begin(), videos.end(), [](const v1::Video& video) {
      return video.state() >= v1::VIDEO_STATE_SUCCEEDED;
    });
  }));
  const double cancelled = Seconds(std::chrono::steady_clock::now() - gone).count();
  EXPECT_EQ(calls.List().front().state(), v1::VIDEO_STATE_CANCELLED);
  std::cout << "FIGURE 200 readers leave: 0 connections after " << freed * 1e3
            << " ms; a bound job is cancelled " << cancelled * 1e3
            << " ms after its connection (steps of 100 ms)\n";
}

TEST(DoorPeers, SlowAndHostilePeersHurtNobody) {
  ReelServer server(WithDoor("timing { write_stall { seconds: 2 } }\n" + SlowConfig(5)));
  httplib::Client client = ClientOf(server.http_address());
  const std::string id = CreateOverHttp(client, ClipSpec());
  EventReader reader;
  reader.Read(server.http_address(), id);
  std::vector<int> held;
  for (int i = 0; i < 300; ++i) {
    held.push_back(SendTo(server.http_address(), "GET /reel/v1/server HTTP/1.1\r\nX: "));
  }
  for (int i = 0; i < 50; ++i) {
    // Asks again and again, and reads nothing.
    std::string many;
    for (int n = 0; n < 20; ++n) {
      absl::StrAppend(&many, "GET /reel/v1/videos/", id,
                      "/media HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    held.push_back(SendTo(server.http_address(), many));
  }
  std::vector<double> answers;
  for (int i = 0; i < 100; ++i) {
    const auto began = std::chrono::steady_clock::now();
    const auto reply = client.Get("/reel/v1/server");
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 200);
    answers.push_back(Seconds(std::chrono::steady_clock::now() - began).count());
  }
  const auto large = SendTo(server.http_address(),
                            "GET / HTTP/1.1\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n");
  char piece[64] = {};
  EXPECT_GT(::recv(large, piece, sizeof piece - 1, 0), 0);
  EXPECT_THAT(std::string(piece), ::testing::StartsWith("HTTP/1.1 431"));
  ::close(large);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(Eventually(
      [&] { return server.Metric("reel_http_cuts_total", "reason=\"header\"") >= 300; }));
  const double cut = Seconds(std::chrono::steady_clock::now() - began).count();
  EXPECT_LE(cut, 20);
  for (const int fd : held) ::close(fd);
  EXPECT_EQ(client.Get("/reel/v1/server")->status, 200);
  std::cout << "FIGURE 300 half heads and 50 that read nothing: others' p99 " << P99(answers) * 1e3
            << " ms; half heads are cut (limit 5 s) " << cut << " s later\n";
}

TEST(DoorPeers, ProbesAreAnsweredWithManyAtTheDoor) {
  ReelServer server(WithDoor());
  httplib::Client client = ClientOf(server.http_address());
  const std::string id = CreateOverHttp(client, ClipSpec());
  IdleSockets held(server.http_address(), 2000);
  ASSERT_EQ(held.size(), 2000U);
  std::vector<double> answers;
  for (int i = 0; i < 100; ++i) {
    for (const char* path : {"/readyz", "/metrics"}) {
      const auto began = std::chrono::steady_clock::now();
      EXPECT_FALSE(server.Get(path).empty());
      answers.push_back(Seconds(std::chrono::steady_clock::now() - began).count());
    }
  }
  std::cout << "FIGURE with 2,000 connections at the door, probes and scrapes: p99 "
            << P99(answers) * 1e3 << " ms\n";
  EXPECT_LE(P99(answers), 1);
}

TEST(DoorPeers, ThousandsOfIdleStreamsCostLittle) {
  ReelServer server(WithDoor(SlowConfig(500)));
  httplib::Client client = ClientOf(server.http_address());
  const std::string id = CreateOverHttp(client, ClipSpec(100));
  const int64_t before = server.MemoryBytes();
  const int count = ProgramsAreSanitized() ? 500 : 2000;  // each takes ten times as long there
  std::vector<int> readers;
  for (int i = 0; i < count; ++i) {
    readers.push_back(SendTo(server.http_address(), EventsRequest(id)));
    char byte = 0;
    ASSERT_EQ(::recv(readers.back(), &byte, 1, 0), 1) << i;
  }
  const double each = static_cast<double>(server.MemoryBytes() - before) / count;
  std::cout << "FIGURE " << count << " event streams: " << each / 1024 << " KiB each\n";
  // A sanitizer's own books count as memory of a stream.
  if (!ProgramsAreSanitized()) {
    EXPECT_LE(each, 80.0 * (1 << 20) / 10'000);  // what ten thousand may cost
  }
  for (const int fd : readers) ::close(fd);
  client.Post("/reel/v1/videos/" + id + ":cancel", "", kJsonType);
}

TEST(DoorPeers, AStopWaitsForNoReader) {
  ReelServer server(WithDoor("timing { drain { seconds: 1 } propagation {} }\n" + SlowConfig(100)));
  httplib::Client client = ClientOf(server.http_address());
  const std::string id = CreateOverHttp(client, ClipSpec(100));
  std::vector<int> held = {
      SendTo(server.http_address(), EventsRequest(id)),
      SendTo(server.http_address(),
             "GET /reel/v1/videos/" + id + "/media HTTP/1.1\r\nHost: localhost\r\n\r\n"),
      SendTo(server.http_address(), "GET /reel"), SendTo(server.http_address(), "")};
  const auto began = std::chrono::steady_clock::now();
  server.Signal(SIGTERM);
  const auto status = server.WaitForExit(absl::Seconds(30));
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(*status, 0);
  const double took = Seconds(std::chrono::steady_clock::now() - began).count();
  EXPECT_LE(took, 15);
  std::cout << "FIGURE a stop with open streams, a drain of 1 s: gone after " << took << " s\n";
  for (const int fd : held) ::close(fd);
}

}  // namespace
}  // namespace reel::tests
