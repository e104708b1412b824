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

constexpr char kProbe[] = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr char kScrape[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

struct Site {
  std::atomic<bool> healthy = true, ready = false;
  std::atomic<int> probes = 0, scrapes = 0;
  Mutex hold_probes;
  const std::string more;
  std::unique_ptr<HttpServer> server;
  // `much`: a page of metrics ends with it.
  explicit Site(std::string much = "") : more(std::move(much)) {
    server = *HttpServer::Start({"127.0.0.1", 0},
                                {[this] { return absl::StrCat("reel_x ", ++scrapes, "\n", more); },
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
  const auto probe = ClientsThatSend(site, 1, kProbe);
  while (site.probes == 0) std::this_thread::yield();
  // The server's thread is in the probe's answer until all of these have asked.
  const auto crowd = ClientsThatSend(site, 30, kScrape);
  site.hold_probes.Unlock();
  for (const FileDescriptor& client : crowd) {
    EXPECT_THAT(ReadAll(client), testing::EndsWith("\r\n\r\nreel_x 1\n"));
  }
  EXPECT_EQ(site.Client().Get("/metrics")->body, "reel_x 2\n");
}

std::string AnswerTo(const Site& site, std::string_view bytes) {
  const auto clients = ClientsThatSend(site, 1, bytes);
  shutdown(clients[0].get(), SHUT_WR);
  return ReadAll(clients[0]);
}

TEST(HttpServer, AnAnswerEndsItsConnection) {
  const Site site;
  const auto client = ClientsThatSend(site, 1, kProbe);
  const std::string answer = ReadAll(client[0]);
  EXPECT_THAT(answer, testing::StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, testing::HasSubstr("\r\nContent-Length: 6\r\n"));
  EXPECT_THAT(answer, testing::HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(answer, testing::EndsWith("\r\n\r\nalive\n"));
  EXPECT_THAT(AnswerTo(site, "HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
              testing::EndsWith("\r\n\r\n"));
  EXPECT_THAT(AnswerTo(site, "PUT /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
              testing::HasSubstr("\r\nAllow: GET, HEAD\r\n"));
}

TEST(HttpServer, AQueryIsNoOtherPage) {
  const Site site;
  EXPECT_EQ(site.Client().Get("/metrics?name[]=up")->status, 200);
}

TEST(HttpServer, ALargeHeadIsRefusedWithoutItsEnd) {
  const Site site;
  const std::string large(3 * 4096, 'x');
  EXPECT_THAT(AnswerTo(site, "GET /" + large), testing::StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(AnswerTo(site, "GET / HTTP/1.1\r\nX: " + large),
              testing::StartsWith("HTTP/1.1 431 "));
}

TEST(HttpServer, WhatTwoParsersReadInTwoWaysIsRefused) {
  const Site site;
  for (const char* text :
       {"nonsense\r\n\r\n", "\r\n\r\n", "\x16\x03\x01\r\n\r\n", "GET / HTTP/2\r\n\r\n",
        "GET /a b HTTP/1.1\r\n\r\n", "GET /healthz HTTP/1.1\n\n", "GET /healthz HTTP/1.1\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: x\r\n y\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n"}) {
    EXPECT_THAT(AnswerTo(site, text), testing::StartsWith("HTTP/1.1 400 ")) << text;
  }
}

TEST(HttpServer, NoBodyIsTaken) {
  const Site site;
  for (const char* field : {"Content-length: 3", "TRANSFER-ENCODING: chunked"}) {
    const std::string head = absl::StrCat("POST /healthz HTTP/1.1\r\nHost: x\r\n", field);
    EXPECT_THAT(AnswerTo(site, head + "\r\n\r\n"), testing::StartsWith("HTTP/1.1 413 "));
  }
  EXPECT_EQ(site.probes, 0);
}

TEST(HttpServer, AReaderWhoComesLateGetsAllOfALargePage) {
  const Site site(std::string(8 << 20, 'x'));
  const auto clients = ClientsThatSend(site, 1, kScrape);
  // Meanwhile others are answered.
  EXPECT_EQ(site.Client().Get("/healthz")->status, 200);
  EXPECT_GT(ReadAll(clients[0]).size(), size_t{8} << 20);
}

TEST(HttpServer, WhatFollowsARequestIsDroppedUpToAMebibyte) {
  const Site site;
  const auto clients = ClientsThatSend(site, 1, kProbe);
  EXPECT_THAT(ReadAll(clients[0]), testing::EndsWith("alive\n"));
  const std::string piece(4096, 'x');
  size_t sent = 0;
  while (send(clients[0].get(), piece.data(), piece.size(), MSG_NOSIGNAL) > 0) {
    sent += piece.size();
    ASSERT_LT(sent, size_t{64} << 20);  // sockets hold some of it
  }
  EXPECT_GE(sent, size_t{1} << 20);
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
