// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/front/http/door_message.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;

absl::StatusOr<DoorHead> ReadWholeHead(const std::string& text) {
  const auto end = FindHeadEnd(text);
  if (!end.ok()) return end.status();
  if (*end == 0) return absl::UnknownError("not whole");
  return ParseDoorHead(std::string_view(text).substr(0, *end));
}

std::string WithFields(const std::string& fields) {
  return "POST /reel/v1/videos HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n";
}

TEST(DoorHead, IsReadAsItWasSent) {
  const auto head = ReadWholeHead(
      "GET /reel/v1/videos?pageSize=2&x HTTP/1.1\r\nHost: a\r\nX-One:  two words \r\n\r\nbody");
  ASSERT_TRUE(head.ok()) << head.status();
  EXPECT_EQ(head->method, "GET");
  EXPECT_EQ(head->path, "/reel/v1/videos");
  EXPECT_EQ(head->query, "pageSize=2&x");
  EXPECT_EQ(head->Find("x-one"), "two words");
  EXPECT_EQ(head->Find("absent"), "");
  EXPECT_FALSE(BodyOf(*head).any());
}

TEST(DoorHead, TellsOfABody) {
  EXPECT_EQ(BodyOf(*ReadWholeHead(WithFields("Content-Length: 12\r\n"))).length, 12);
  EXPECT_TRUE(BodyOf(*ReadWholeHead(WithFields("Transfer-Encoding: Chunked\r\n"))).chunked);
}

TEST(DoorHead, WaitsForItsEnd) {
  const std::string whole = WithFields("A: b\r\n");
  for (size_t n = 0; n < whole.size(); ++n) {
    const auto end = FindHeadEnd(std::string_view(whole).substr(0, n));
    ASSERT_TRUE(end.ok()) << n << ": " << end.status();
    EXPECT_EQ(*end, 0U) << n;
  }
  EXPECT_EQ(*FindHeadEnd(whole + "POST"), whole.size());
}

// What a proxy and the door could read in two ways.
TEST(DoorHead, WhatCanBeReadInTwoWaysIsRefused) {
  const std::vector<std::string> corpus = {
      WithFields("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"),
      WithFields("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"),
      WithFields("Content-Length: 3\r\nContent-Length: 3\r\n"),
      WithFields("Content-Length: 3\r\nContent-Length: 4\r\n"),
      WithFields("Content-Length: 3, 3\r\n"),
      WithFields("Content-Length: +3\r\n"),
      WithFields("Content-Length: -3\r\n"),
      WithFields("Content-Length: 0x3\r\n"),
      WithFields("Content-Length: 3 4\r\n"),
      WithFields("Content-Length: \r\n"),
      WithFields("Content-Length: 99999999999999999999\r\n"),
      WithFields("Transfer-Encoding: identity\r\n"),
      WithFields("Transfer-Encoding: gzip, chunked\r\n"),
      WithFields("Transfer-Encoding: chunked, chunked\r\n"),
      WithFields("Transfer-Encoding: xchunked\r\n"),
      WithFields("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"),
      WithFields("Transfer-Encoding: chunked\r\nTrailer: X\r\n"),
      WithFields("Transfer-Encoding : chunked\r\n"),
      WithFields("Transfer-Encoding\t: chunked\r\n"),
      WithFields("X: a\r\n folded\r\n"),
      WithFields("X: a\r\n\tfolded\r\n"),
      WithFields("X: a\nTransfer-Encoding: chunked\r\n"),
      WithFields(std::string("X: a\0b\r\n", 8)),
      WithFields("X: a\rContent-Length: 3\r\n"),
      WithFields("X\r\n"),
      WithFields(": x\r\n"),
      WithFields("Content Length: 3\r\n"),
      WithFields("Host: other\r\n"),
      "GET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
      "GET / HTTP/1.2\r\nHost: a\r\n\r\n",
      "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
      "GET /  HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /\r\nHost: a\r\n\r\n",
      "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /\x80 HTTP/1.1\r\nHost: a\r\n\r\n",
      "G(T / HTTP/1.1\r\nHost: a\r\n\r\n",
      "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\nHost: a\n\n",
      "\x16\x03\x01\x02\n",
  };
  ASSERT_GE(corpus.size(), 30U);
  for (const std::string& text : corpus) {
    const auto head = ReadWholeHead(text);
    ASSERT_FALSE(head.ok()) << text;
    EXPECT_EQ(ReasonOf(head.status()), Reason::kMalformedHttp) << text << head.status();
  }
}

TEST(DoorHead, LimitsHoldToTheByte) {
  const auto reason = [](const std::string& text) {
    return ReasonOf(ReadWholeHead(text).status());
  };
  const std::string long_path(kMaxRequestLineBytes - std::string("GET / HTTP/1.1").size(), 'a');
  const auto line = [](const std::string& path) {
    return "GET /" + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
  };
  EXPECT_TRUE(ReadWholeHead(line(long_path)).ok());
  EXPECT_EQ(reason(line(long_path + "a")), Reason::kMetadataTooLarge);
  EXPECT_EQ(reason("GET /" + std::string(5000, 'a')), Reason::kMetadataTooLarge);

  const std::string start = WithFields("X: ");
  const std::string filled = start.substr(0, start.size() - 2) +
                             std::string(kMaxDoorHeadBytes - start.size() - 2, 'x') + "\r\n\r\n";
  ASSERT_EQ(filled.size(), kMaxDoorHeadBytes);
  EXPECT_TRUE(ReadWholeHead(filled).ok()) << ReadWholeHead(filled).status();
  EXPECT_EQ(reason("GET / HTTP/1.1\r\nX: " + std::string(200'000, 'x')), Reason::kMetadataTooLarge);

  std::string fields;
  for (int i = 1; i < kMaxDoorFields; ++i) absl::StrAppend(&fields, "x", i, ": y\r\n");
  EXPECT_TRUE(ReadWholeHead(WithFields(fields)).ok());
  EXPECT_EQ(reason(WithFields(fields + "z: y\r\n")), Reason::kMetadataTooLarge);
}

TEST(DoorHead, RepliesAndQueriesAreWrittenAndReadPlainly) {
  DoorReply reply;
  reply.status = 206;
  reply.Add("ETag", "\"a\"");
  EXPECT_THAT(WriteHead(reply, BodyFraming::kLength, 7),
              ::testing::AllOf(::testing::StartsWith("HTTP/1.1 206 Partial Content\r\n"),
                               ::testing::HasSubstr("Content-Length: 7\r\n"),
                               ::testing::EndsWith("\r\n\r\n")));
  EXPECT_EQ(WriteChunk("0123456789abcdef0"), "11\r\n0123456789abcdef0\r\n");
  EXPECT_EQ(WriteChunk(""), "0\r\n\r\n");
  using Pair = std::pair<std::string, std::string>;
  EXPECT_THAT(*ParseQuery("a=b%20c&d&e=+&&f==g"),
              ElementsAre(Pair("a", "b c"), Pair("d", ""), Pair("e", " "), Pair("f", "=g")));
  for (const char* bad : {"a=%", "a=%2", "a=%zz", "%x=1"}) EXPECT_FALSE(ParseQuery(bad)) << bad;
}

}  // namespace
}  // namespace reel::front
