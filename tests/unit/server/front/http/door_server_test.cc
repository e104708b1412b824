// SPDX-License-Identifier: Apache-2.0
// Connections of the door: limits, order, ends.
#include "server/front/http/door_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/unit/server/front/http/door_site.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kNoSpec[] = R"({"spec": {"prompt": "a red circle"}})";

TEST(DoorServer, ReadersWhoLeaveAreGone) {
  DoorSite site;
  const auto job = site.jobs.Add("lab-1");
  std::vector<FileDescriptor> sockets;
  for (int i = 0; i < 50; ++i) {
    sockets.push_back(site.Connect());
    SendText(sockets.back(), GetText("/reel/v1/videos/lab-1/events"));
    ReceiveText(sockets.back(), "event: accepted");
  }
  EXPECT_EQ(site.observer.open, 50);
  sockets.clear();
  EXPECT_TRUE(EventuallyHolds([&] { return site.observer.open == 0; }));
  EXPECT_TRUE(EventuallyHolds([&] { return job->listeners() == 0; }));
}

TEST(DoorServer, SlowHeadsAndBodiesAreCut) {
  DoorLimits limits;
  limits.head = absl::Milliseconds(200);
  limits.body = absl::Milliseconds(200);
  limits.idle = absl::Milliseconds(200);
  DoorSite site(limits);
  const FileDescriptor idle = site.Connect();
  const FileDescriptor half = site.Connect();
  SendText(half, "GET /reel/v1/server HT");
  const FileDescriptor body = site.Connect();
  SendText(body,
           "POST /reel/v1/videos HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
           "Content-Length: 50\r\n\r\n{");
  const FileDescriptor kept = site.Connect();
  SendText(kept, GetText("/reel/v1/server"));
  EXPECT_EQ(ReceiveText(idle), "");
  EXPECT_EQ(ReceiveText(half), "");
  EXPECT_THAT(ReceiveText(body), HasSubstr("408 Request Timeout"));
  EXPECT_THAT(ReceiveText(kept), HasSubstr("200 OK"));
  EXPECT_EQ(site.observer.cuts[static_cast<size_t>(DoorCut::kHeader)], 2);
  EXPECT_EQ(site.observer.cuts[static_cast<size_t>(DoorCut::kBody)], 1);
  EXPECT_EQ(site.observer.cuts[static_cast<size_t>(DoorCut::kIdle)], 1);
}

TEST(DoorServer, AReaderWhoStallsIsCutAndNobodyElse) {
  DoorLimits limits;
  limits.write_stall = absl::Milliseconds(300);
  DoorSite site(limits);
  const auto job = site.jobs.Add("lab-1");
  for (int i = 0; i < 64; ++i) job->Media(std::string(256 * 1024, 'a'));
  const FileDescriptor stalled = site.Connect();
  SendText(stalled, GetText("/reel/v1/videos/lab-1/media"));
  EXPECT_TRUE(EventuallyHolds(
      [&] { return site.calls.Look([](const auto& seen) { return seen.slow_cuts; }) == 1; }));
  EXPECT_EQ(site.Client().Get("/reel/v1/server")->status, 200);
  bool reset = false;
  EXPECT_THAT(ReceiveText(stalled, "", &reset), Not(HasSubstr("0\r\n\r\n")));
  EXPECT_TRUE(reset);
}

TEST(DoorServer, AnAnswerThatDoesNotComeIsTold) {
  DoorLimits limits;
  limits.answer = absl::Milliseconds(100);
  DoorSite site(limits);
  const auto job = site.jobs.Add("lab-1");
  site.jobs.HoldCreates();
  const auto late = site.Client().Post("/reel/v1/videos", kNoSpec, "application/json");
  EXPECT_EQ(late->status, 504);
  EXPECT_THAT(late->body, HasSubstr("NO_ANSWER"));
  const auto queued = site.Client().Get("/reel/v1/videos/lab-1/media");
  EXPECT_EQ(queued->status, 409);
  EXPECT_THAT(queued->body, HasSubstr("VIDEO_NOT_READY"));
  EXPECT_TRUE(queued->has_header("Retry-After"));
  site.jobs.ReleaseCreates();  // to nobody
}

TEST(DoorServer, OneConnectionTooManyIsToldSo) {
  DoorLimits limits;
  limits.connections = 3;
  DoorSite site(limits);
  std::vector<FileDescriptor> held;
  for (int i = 0; i < 3; ++i) {
    held.push_back(site.Connect());
    SendText(held.back(), GetText("/reel/v1/server"));
    ReceiveText(held.back(), "\r\n\r\n{");
  }
  const FileDescriptor one_more = site.Connect();
  EXPECT_THAT(ReceiveText(one_more), HasSubstr("503 Service Unavailable"));
  held.clear();
  EXPECT_TRUE(EventuallyHolds([&] { return site.observer.open <= 1; }));
  EXPECT_EQ(site.Client().Get("/reel/v1/server")->status, 200);
}

TEST(DoorServer, ARefusedRequestIsAnsweredOnce) {
  DoorSite site;
  const FileDescriptor socket = site.Connect();
  SendText(socket, GetText("/nothing") + GetText("/reel/v1/server", "Connection: close\r\n"));
  const std::string text = ReceiveText(socket);
  EXPECT_THAT(text, ::testing::StartsWith("HTTP/1.1 404"));
  EXPECT_EQ(text.find("HTTP/1.1", 1), text.find("HTTP/1.1 200 OK"));
  EXPECT_EQ(site.observer.requests, 2);
}

TEST(DoorServer, FramingIsStrictAndConnectionsArePipelined) {
  DoorSite site;
  const FileDescriptor pipelined = site.Connect();
  SendText(pipelined,
           GetText("/reel/v1/server") + GetText("/reel/v1/models", "Connection: close\r\n"));
  const std::string both = ReceiveText(pipelined);
  EXPECT_THAT(both, HasSubstr("1.2.3"));
  EXPECT_EQ(both.rfind("HTTP/1.1 200 OK"), both.find("HTTP/1.1 200 OK", 1));
  struct Case {
    const char *text, *status;
  };
  for (const Case& c :
       {Case{"Transfer-Encoding: chunked\r\n\r\n41\r\n", "HTTP/1.1 408"},
        Case{"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 400"},
        Case{"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: y\r\n\r\n", "HTTP/1.1 400"},
        Case{"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "HTTP/1.1 200"},
        Case{"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 400"},
        Case{"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n", "HTTP/1.1 100 Continue"}}) {
    DoorLimits limits;
    limits.body = absl::Milliseconds(200);
    DoorSite strict(limits);
    strict.jobs.Add("lab-1");
    const FileDescriptor socket = strict.Connect();
    SendText(socket, absl::StrCat("POST /reel/v1/videos HTTP/1.1\r\nHost: localhost\r\n"
                                  "Content-Type: application/json\r\n",
                                  c.text));
    EXPECT_THAT(ReceiveText(socket, "\r\n\r\n"), ::testing::StartsWith(c.status)) << c.text;
  }
}

// Its first byte is what the watch over a caller reads.
TEST(DoorServer, ARequestThatComesDuringAStreamIsServedBehindIt) {
  DoorSite site;
  const auto job = site.jobs.Add("lab-1");
  const FileDescriptor socket = site.Connect();
  SendText(socket, GetText("/reel/v1/videos/lab-1/events"));
  ReceiveText(socket, "event: accepted");
  SendText(socket, GetText("/reel/v1/server"));
  SendText(socket, GetText("/reel/v1/models", "Connection: close\r\n"));
  job->Succeed();
  const std::string rest = ReceiveText(socket);
  EXPECT_THAT(rest, HasSubstr("1.2.3"));
  EXPECT_EQ(rest.rfind("HTTP/1.1 200 OK"),
            rest.find("HTTP/1.1 200 OK", rest.find("HTTP/1.1 200 OK") + 1));
  EXPECT_EQ(site.observer.requests, 3);
}

TEST(DoorServer, EndsAtOnceWithOpenStreams) {
  std::vector<FileDescriptor> sockets;
  const auto began = std::chrono::steady_clock::now();
  {
    DoorSite site;
    const auto job = site.jobs.Add("lab-1");
    for (int i = 0; i < 20; ++i) {
      sockets.push_back(site.Connect());
      SendText(sockets.back(), GetText("/reel/v1/videos/lab-1/events"));
      ReceiveText(sockets.back(), "event: accepted");
    }
    sockets.push_back(site.Connect());
    SendText(sockets.back(), "GET /ree");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

}  // namespace
}  // namespace reel::front
