// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/mutex.h"
#include "server/front/workers/file_descriptor.h"

namespace reel::front {
namespace {

struct Site {
  std::atomic<bool> healthy = true, ready = false;
  std::atomic<int> probes = 0, scrapes = 0;
  Mutex hold_probes;
  std::unique_ptr<HttpServer> server;
  Site() {
    server = *HttpServer::Start({"127.0.0.1", 0},
                                {[this] { return absl::StrCat("reel_x ", ++scrapes, "\n"); },
                                 [this] { return Healthy(); }, [this] { return ready.load(); }});
  }
  bool Healthy() {
    ++probes;
    MutexLock lock(hold_probes);
    return healthy;
  }
  httplib::Client Client() const {
    const Address address = *ParseAddress(server->address_text());
    return httplib::Client(address.host, address.port);
  }
};

TEST(HttpServer, ServesMetricsAsText) {
  const Site site;
  const auto result = site.Client().Get("/metrics");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200);
  EXPECT_EQ(result->body, "reel_x 1\n");
  EXPECT_THAT(result->get_header_value("Content-Type"), testing::HasSubstr("version=0.0.4"));
}

TEST(HttpServer, ProbesFollowTheTruth) {
  Site site;
  EXPECT_EQ(site.Client().Get("/healthz")->status, 200);
  EXPECT_EQ(site.Client().Get("/readyz")->status, 503);
  site.ready = true;
  site.healthy = false;
  EXPECT_EQ(site.Client().Get("/healthz")->status, 503);
  EXPECT_EQ(site.Client().Get("/readyz")->status, 200);
}

TEST(HttpServer, ReadinessSaysWhyNot) {
  bool ready = false;
  const auto server = *HttpServer::Start(
      {"127.0.0.1", 0}, {[] { return std::string(); }, [] { return true; }, [&] { return ready; },
                         [] { return std::string("model x: no such folder\n"); }});
  const Address address = *ParseAddress(server->address_text());
  httplib::Client client(address.host, address.port);
  EXPECT_EQ(client.Get("/readyz")->body, "not ready\nmodel x: no such folder\n");
  ready = true;
  EXPECT_EQ(client.Get("/readyz")->body, "ready\n");
}

TEST(HttpServer, HasNothingElse) {
  const Site site;
  EXPECT_EQ(site.Client().Get("/")->status, 404);
  EXPECT_EQ(site.Client().Get("/metrics/../etc/passwd")->status, 404);
  EXPECT_EQ(site.Client().Post("/metrics", std::string(10'000, 'x'), "text/plain")->status, 413);
}

TEST(HttpServer, ATakenPortIsRefusedByName) {
  const Site site;
  const auto second = HttpServer::Start(*ParseAddress(site.server->address_text()), {});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()),
              testing::HasSubstr(site.server->address_text()));
}

TEST(HttpServer, OnlyReadsAreServed) {
  const Site site;
  const auto deleted = site.Client().Delete("/metrics");
  ASSERT_TRUE(deleted);
  EXPECT_EQ(deleted->status, 405);
  EXPECT_EQ(site.Client().Head("/healthz")->status, 200);
}

// Connections that send these bytes and nothing more.
std::vector<FileDescriptor> ClientsThatSend(const Site& site, int count, std::string_view bytes) {
  const Address address = *ParseAddress(site.server->address_text());
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<uint16_t>(address.port));
  inet_pton(AF_INET, address.host.c_str(), &place.sin_addr);
  std::vector<FileDescriptor> clients;
  for (int i = 0; i < count; ++i) {
    FileDescriptor client(socket(AF_INET, SOCK_STREAM, 0));
    EXPECT_EQ(connect(client.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place), 0);
    EXPECT_EQ(send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), ssize(bytes));
    clients.push_back(std::move(client));
  }
  return clients;
}

std::vector<FileDescriptor> SlowClients(const Site& site, int count) {
  return ClientsThatSend(site, count, "GET /");
}

std::string ReadAll(const FileDescriptor& client) {
  std::string answer;
  char piece[1024];
  for (ssize_t got = 0; (got = recv(client.get(), piece, sizeof piece, 0)) > 0;) {
    answer.append(piece, static_cast<size_t>(got));
  }
  return answer;
}

TEST(HttpServer, ScrapesThatAreThereTogetherHaveOneReading) {
  Site site;
  site.hold_probes.Lock();
  const auto probe = ClientsThatSend(site, 1, "GET /healthz HTTP/1.1\r\n\r\n");
  while (site.probes == 0) std::this_thread::yield();
  // The server's thread is in the probe's answer until all of these have asked.
  const auto crowd = ClientsThatSend(site, 30, "GET /metrics HTTP/1.1\r\n\r\n");
  site.hold_probes.Unlock();
  for (const FileDescriptor& client : crowd) {
    EXPECT_THAT(ReadAll(client), testing::EndsWith("\r\n\r\nreel_x 1\n"));
  }
  EXPECT_EQ(site.Client().Get("/metrics")->body, "reel_x 2\n");
}

TEST(HttpServer, SlowClientsKeepNobodyWaiting) {
  const Site site;
  const std::vector<FileDescriptor> slow = SlowClients(site, 300);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(site.Client().Get("/healthz")->status, 200);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
}

TEST(HttpServer, ASlowClientIsCutAfterItsTime) {
  const Site site;
  const std::vector<FileDescriptor> slow = SlowClients(site, 1);
  char byte = 0;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(recv(slow[0].get(), &byte, 1, 0), 0);
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_GT(took, std::chrono::seconds(4));
}

TEST(HttpServer, ItsEndWaitsForNobody) {
  Site site;
  const std::vector<FileDescriptor> slow = SlowClients(site, 8);
  const auto start = std::chrono::steady_clock::now();
  site.server.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(HttpServer, ManyClientsAtOnceAreServed) {
  const Site site;
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      auto client = site.Client();
      client.set_read_timeout(30);
      const auto result = client.Get("/metrics");
      if (result && result->status == 200) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 16);
}

}  // namespace
}  // namespace reel::front
