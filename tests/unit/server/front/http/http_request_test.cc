// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/http_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reel::front {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(HttpRequest, AHeadEndsWithABlankLine) {
  EXPECT_EQ(HeadLength(""), 0U);
  EXPECT_EQ(HeadLength("GET / HTTP/1.1\r\nHost: x\r\n"), 0U);
  EXPECT_EQ(HeadLength("GET / HTTP/1.1\r\n\r\n"), 18U);
  EXPECT_EQ(HeadLength("GET / HTTP/1.1\r\n\r\nmore"), 18U);
}

TEST(HttpRequest, ReadsMethodAndPathWithoutItsQuery) {
  const auto request = ParseHead("GET /metrics?name[]=up HTTP/1.0\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method, "GET");
  EXPECT_EQ(request->path, "/metrics");
  EXPECT_FALSE(request->has_body);
}

TEST(HttpRequest, NoticesBodies) {
  EXPECT_TRUE(ParseHead("POST / HTTP/1.1\r\nContent-length: 3\r\n\r\n")->has_body);
  EXPECT_TRUE(ParseHead("GET / HTTP/1.1\r\nTRANSFER-ENCODING: chunked\r\n\r\n")->has_body);
  EXPECT_FALSE(ParseHead("POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n")->has_body);
}

TEST(HttpRequest, AnythingElseIsNone) {
  for (const char* head : {"\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/2\r\n\r\n",
                           "GET x HTTP/1.1\r\n\r\n", " / HTTP/1.1\r\n\r\n",
                           "GET /a b HTTP/1.1\r\n\r\n", "\x16\x03\x01\r\n\r\n"}) {
    EXPECT_FALSE(ParseHead(head)) << head;
  }
}

TEST(HttpRequest, AnAnswerEndsItsConnection) {
  const std::string text = WriteAnswer({503, "not ready\n"});
  EXPECT_THAT(text, StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\nContent-Length: 10\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(text, EndsWith("\r\n\r\nnot ready\n"));
  EXPECT_THAT(WriteAnswer({200, "x"}, false), EndsWith("\r\n\r\n"));
  EXPECT_THAT(WriteAnswer({405, ""}), HasSubstr("\r\nAllow: GET, HEAD\r\n"));
}

}  // namespace
}  // namespace reel::front
