// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/http_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

namespace reel::front {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// One end is the exchange's, the other the client's.
struct Pair {
  explicit Pair(std::string page = "page\n")
      : answer([page](const HttpRequest& request) {
          return HttpAnswer{200, request.method + " " + page};
        }) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    client = FileDescriptor(ends[0]);
    exchange = std::make_unique<HttpExchange>(FileDescriptor(ends[1]), HttpExchange::Time::max());
  }
  void Send(const std::string& text) const {
    ASSERT_EQ(send(client.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }
  std::string Take() const {
    std::string text(1 << 16, '\0');
    const ssize_t got = recv(client.get(), text.data(), text.size(), 0);
    text.resize(got < 0 ? 0 : static_cast<size_t>(got));
    return text;
  }
  bool Advance() const { return exchange->Advance(answer); }

  HttpExchange::Answer answer;
  FileDescriptor client;
  std::unique_ptr<HttpExchange> exchange;
};

TEST(HttpExchange, AnswersWhenTheHeadIsWhole) {
  const Pair pair;
  pair.Send("GET /x HTTP/1.1\r\nHo");
  EXPECT_TRUE(pair.Advance());
  EXPECT_EQ(pair.Take(), "");
  EXPECT_FALSE(pair.exchange->answered());
  pair.Send("st: y\r\n\r\n");
  EXPECT_TRUE(pair.Advance());
  EXPECT_THAT(pair.Take(), HasSubstr("GET page"));
  EXPECT_TRUE(pair.exchange->answered());
}

TEST(HttpExchange, WaitsForNothingWhenNothingIsThere) {
  const Pair pair;
  EXPECT_TRUE(pair.Advance());
  EXPECT_FALSE(pair.exchange->sending());
}

TEST(HttpExchange, ALargeHeadIsRefusedWithoutItsEnd) {
  const Pair pair;
  pair.Send("GET /x HTTP/1.1\r\nX: " + std::string(3 * 4096, 'x'));
  while (!pair.exchange->answered()) ASSERT_TRUE(pair.Advance());
  EXPECT_THAT(pair.Take(), StartsWith("HTTP/1.1 431 "));
}

TEST(HttpExchange, WhatIsNoRequestIsSaidSo) {
  const Pair pair;
  pair.Send("nonsense\r\n\r\n");
  EXPECT_TRUE(pair.Advance());
  EXPECT_THAT(pair.Take(), StartsWith("HTTP/1.1 400 "));
}

TEST(HttpExchange, ASlowReaderIsWaitedForInPieces) {
  const std::string page(1 << 20, 'x');
  const Pair pair(page);
  pair.Send("GET /x HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(pair.Advance());
  ASSERT_TRUE(pair.exchange->sending());
  size_t taken = 0;
  while (!pair.exchange->answered()) {
    taken += pair.Take().size();
    ASSERT_TRUE(pair.Advance());
  }
  for (std::string more = pair.Take(); !more.empty(); more = pair.Take()) taken += more.size();
  EXPECT_GT(taken, page.size());
}

TEST(HttpExchange, IsOverWhenTheClientLeaves) {
  Pair pair;
  pair.Send("GET /x HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(pair.Advance());
  pair.client.Close();
  EXPECT_FALSE(pair.Advance());
}

TEST(HttpExchange, WhatFollowsARequestIsDroppedUpToAMebibyte) {
  const Pair pair;
  pair.Send("GET /x HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(pair.Advance());
  int pieces = 0;
  do {
    pair.Send(std::string(4096, 'x'));
    ++pieces;
  } while (pair.Advance());
  EXPECT_EQ(pieces, 256);
}

}  // namespace
}  // namespace reel::front
