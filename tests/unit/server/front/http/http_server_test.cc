// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>

namespace reel::front {
namespace {

struct Site {
  std::atomic<bool> healthy = true, ready = false;
  std::unique_ptr<HttpServer> server;
  Site() {
    server = *HttpServer::Start(
        {"127.0.0.1", 0}, {[] { return std::string("reel_x 1\n"); },
                           [this] { return healthy.load(); }, [this] { return ready.load(); }});
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
