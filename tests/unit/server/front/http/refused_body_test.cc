// SPDX-License-Identifier: Apache-2.0
// A client that sends the whole of a refused body before it reads, as browsers do, reads why. One
// that sends without end, slowly or not at all holds a connection for a bounded time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/digest/sha256.h"
#include "tests/unit/server/front/http/door_site.h"

namespace reel::front {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string PostText(const std::string& path, int64_t length, const std::string& fields = "") {
  return absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: localhost\r\nContent-Length: ", length,
                      "\r\n", fields, "\r\n");
}
constexpr char kFiles[] = "/reel/v1/files";
constexpr int64_t kMiB = 1 << 20;
// Larger than a file may be.
std::string RefusedFile() { return PostText(kFiles, 1000 * kMiB); }

// False: the connection is gone.
bool Sends(const FileDescriptor& socket, const std::string& text) {
  return send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(text.size());
}

TEST(RefusedBody, AClientThatSendsItToTheEndReadsWhy) {
  DoorSite site(
      {}, std::make_unique<Authorizer>(*TokenTable::Parse(Sha256Hex("secret") + " lab user\n")));
  const std::string token = "Authorization: Bearer secret\r\n";
  const std::string type = "Content-Type: application/json\r\n";
  struct Case {
    std::string path, fields, why;
    int64_t size;
  };
  for (const Case& c : std::vector<Case>{
           {kFiles, token, "413 Content Too Large", 65 * kMiB},
           {kFiles, token, "size_bytes", 40 * kMiB},
           {kFiles, "", "401 Unauthorized", 20 * kMiB},
           {"/reel/v1/videos", token + type, "20971520 bytes, the limit is 5242880", 20 * kMiB},
           {"/reel/v1/videos", token, "BODY_TYPE", 20 * kMiB},
           {"/v1/videos", token + type, "BODY_TOO_LARGE", 20 * kMiB},
           {"/nowhere", "", "404 Not Found", 20 * kMiB}}) {
    const FileDescriptor socket = site.Connect();
    const std::string body(static_cast<size_t>(c.size), 'a');
    ASSERT_TRUE(Sends(socket, PostText(c.path, c.size, c.fields) + body)) << c.why;
    bool reset = false;
    const std::string text = ReceiveText(socket, "", &reset);
    EXPECT_THAT(text, HasSubstr(c.why));
    EXPECT_THAT(text, HasSubstr("Connection: close"));
    EXPECT_THAT(text, EndsWith("}"));
    EXPECT_FALSE(reset) << c.why;
  }
  EXPECT_TRUE(site.jobs.files.whole().empty());
}

TEST(RefusedBody, OneWithoutEndIsCutAtItsBound) {
  DoorLimits limits;
  limits.linger.bytes = kMiB;
  DoorSite site(limits);
  const FileDescriptor socket = site.Connect();
  SendText(socket, RefusedFile());
  const std::string piece(64 << 10, 'a');
  int64_t sent = 0;
  while (sent < 500 * kMiB && Sends(socket, piece)) sent += std::ssize(piece);
  EXPECT_LT(sent, 64 * kMiB);  // the bound and what both sockets hold
  EXPECT_TRUE(EventuallyHolds([&] { return site.observer.open == 0; }));
}

TEST(RefusedBody, OneThatComesSlowlyIsCutInTime) {
  DoorLimits limits;
  limits.linger.time = absl::Milliseconds(200);
  limits.linger.bytes_per_second = 1000 * kMiB;
  DoorSite site(limits);
  const FileDescriptor socket = site.Connect();
  SendText(socket, RefusedFile());
  EXPECT_TRUE(EventuallyHolds([&] { return !Sends(socket, "a"); }));
  EXPECT_TRUE(EventuallyHolds([&] { return site.observer.open == 0; }));
}

TEST(RefusedBody, OneThatStopsIsCutAfterAPause) {
  DoorLimits limits;
  limits.linger.pause = absl::Milliseconds(200);
  DoorSite site(limits);
  const FileDescriptor socket = site.Connect();
  SendText(socket, RefusedFile() + "a");
  EXPECT_THAT(ReceiveText(socket), StartsWith("HTTP/1.1 413"));
  EXPECT_TRUE(EventuallyHolds([&] { return site.observer.open == 0; }));
}

TEST(RefusedBody, OneThatKeepsComingGetsTheTimeThatItNeeds) {
  DoorLimits limits;
  limits.linger.time = absl::Milliseconds(300);
  limits.linger.bytes = static_cast<size_t>(100'000 * kMiB);
  limits.linger.bytes_per_second = 1 << 10;
  DoorSite site(limits);
  const FileDescriptor socket = site.Connect();
  SendText(socket, RefusedFile());
  const std::string piece(64 << 10, 'a');
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(900);
  while (std::chrono::steady_clock::now() < end) ASSERT_TRUE(Sends(socket, piece));
  EXPECT_EQ(shutdown(socket.get(), SHUT_WR), 0);
  bool reset = false;
  EXPECT_THAT(ReceiveText(socket, "", &reset), HasSubstr("BODY_TOO_LARGE"));
  EXPECT_FALSE(reset);
}

}  // namespace
}  // namespace reel::front
