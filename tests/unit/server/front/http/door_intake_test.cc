// SPDX-License-Identifier: Apache-2.0
// Files at the door: taken in as they come, bounded by their head, given up with their connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kernels/base/digest/sha256.h"
#include "tests/unit/server/front/http/door_site.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;

std::string FileHead(const std::string& fields) {
  return "POST /reel/v1/files HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n";
}
std::string OfLength(int64_t length) { return absl::StrCat("Content-Length: ", length, "\r\n"); }

TEST(DoorIntake, TakesAFileThatIsLargerThanAnyOtherBody) {
  DoorSite site;
  const std::string bytes((7 << 20) + 3, 'a');
  auto client = site.Client();
  const auto reply = client.Post("/reel/v1/files", bytes, "video/mp4");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200) << reply->body;
  EXPECT_THAT(reply->body, HasSubstr("files/" + Sha256Hex(bytes)));
  ASSERT_EQ(site.jobs.files.whole().size(), 1U);
  EXPECT_TRUE(site.jobs.files.whole()[0].second == bytes);
  EXPECT_EQ(client.Get("/reel/v1/server")->status, 200);  // the connection goes on
}

TEST(DoorIntake, ARequestBehindAFileIsServedBehindIt) {
  DoorSite site;
  const FileDescriptor socket = site.Connect();
  SendText(socket,
           FileHead(OfLength(5)) + "12345" + GetText("/reel/v1/server", "Connection: close\r\n"));
  const std::string both = ReceiveText(socket);
  EXPECT_THAT(both, HasSubstr("files/" + Sha256Hex("12345")));
  EXPECT_THAT(both, HasSubstr("1.2.3"));
}

TEST(DoorIntake, ASizeThatIsNotToldOrTooLargeIsRefusedByTheHead) {
  DoorSite site;
  const auto reply = [&](const std::string& fields) {
    const FileDescriptor socket = site.Connect();
    SendText(socket, FileHead(fields));
    return ReceiveText(socket, "}");
  };
  EXPECT_THAT(reply("Transfer-Encoding: chunked\r\n"), HasSubstr("Content-Length"));
  EXPECT_THAT(reply(OfLength((int64_t{64} << 20) + 1)), HasSubstr("BODY_TOO_LARGE"));
  EXPECT_THAT(reply(""), HasSubstr("size_bytes"));
  // By jobs/, whose limit here is lower: the client is not told to go on.
  const std::string refused = reply(OfLength(9 << 20) + "Expect: 100-continue\r\n");
  EXPECT_THAT(refused, HasSubstr("size_bytes"));
  EXPECT_THAT(refused, ::testing::Not(HasSubstr("100 Continue")));
  EXPECT_TRUE(site.jobs.files.whole().empty());
}

TEST(DoorIntake, AClientThatWaitsForAWordGetsIt) {
  DoorSite site;
  const FileDescriptor socket = site.Connect();
  SendText(socket, FileHead(OfLength(5) + "Expect: 100-continue\r\nConnection: close\r\n"));
  EXPECT_THAT(ReceiveText(socket, "\r\n\r\n"), HasSubstr("100 Continue"));
  SendText(socket, "12345");
  EXPECT_THAT(ReceiveText(socket), HasSubstr("200 OK"));
}

TEST(DoorIntake, WhoLeavesOrStallsLeavesNothing) {
  DoorLimits limits;
  limits.body = absl::Milliseconds(200);
  DoorSite site(limits);
  {
    const FileDescriptor leaves = site.Connect();
    SendText(leaves, FileHead(OfLength(10)) + "12345");
  }
  EXPECT_TRUE(EventuallyHolds([&] { return site.jobs.files.given_up() == 1; }));
  const FileDescriptor stalls = site.Connect();
  SendText(stalls, FileHead(OfLength(10)) + "12345");
  EXPECT_THAT(ReceiveText(stalls), HasSubstr("408 Request Timeout"));
  EXPECT_TRUE(EventuallyHolds([&] { return site.jobs.files.given_up() == 2; }));
  EXPECT_EQ(site.observer.cuts[static_cast<size_t>(DoorCut::kBody)], 1);
  EXPECT_TRUE(site.jobs.files.whole().empty());
}

}  // namespace
}  // namespace reel::front
