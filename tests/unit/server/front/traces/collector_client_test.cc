// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/front/traces/collector.h"
#include "server/front/workers/file_descriptor.h"
#include "tests/fakes/temp_folder.h"
#include "tests/fakes/trace_receiver.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Outcome = SendResult::Outcome;
using reel::testing::TempFolder;
using reel::testing::TraceReceiver;

// A port of this machine on which nobody takes a connection: those that come wait in its backlog.
class SilentPort {
 public:
  SilentPort() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&place), size), 0);
    EXPECT_EQ(getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&place), &size), 0);
    port_ = ntohs(place.sin_port);
  }
  void Listen() const { EXPECT_EQ(listen(socket_.get(), 8), 0); }
  int socket() const { return socket_.get(); }
  CollectorAddress address() const { return {{"127.0.0.1", port_}, "/v1/traces"}; }

 private:
  FileDescriptor socket_;
  int port_ = 0;
};

// Answers one connection with a text, whatever is asked, and hangs up.
class OneAnswer {
 public:
  explicit OneAnswer(std::string text)
      : thread_([this, text = std::move(text)] {
          port_.Listen();
          listening_ = true;
          const FileDescriptor caller(accept(port_.socket(), nullptr, nullptr));
          char piece[4096];
          EXPECT_GT(recv(caller.get(), piece, sizeof piece, 0), 0);
          send(caller.get(), text.data(), text.size(), MSG_NOSIGNAL);
          shutdown(caller.get(), SHUT_WR);
          while (recv(caller.get(), piece, sizeof piece, 0) > 0) {
          }
        }) {
    while (!listening_) std::this_thread::yield();
  }
  ~OneAnswer() { thread_.join(); }
  CollectorAddress address() const { return port_.address(); }

 private:
  SilentPort port_;
  std::atomic<bool> listening_ = false;
  std::thread thread_;
};

CollectorClientOptions To(const TraceReceiver& receiver, const char* path = "") {
  return {*ParseCollectorAddress(receiver.endpoint() + path)};
}

SendResult SendTo(const OneAnswer& collector) {
  CollectorClient client({collector.address()});
  return client.Send("{}");
}

TEST(CollectorClient, SendsABodyOfAnySizeOverOneConnection) {
  TraceReceiver receiver;
  CollectorClient client(To(receiver));
  for (const size_t size : {2U, 5'000'000U}) {
    const std::string body(size, 'x');
    const SendResult result = client.Send(body);
    EXPECT_EQ(result.outcome, Outcome::kTaken) << result.why;
    const auto received = receiver.Received();
    EXPECT_EQ(received.back().body, body);
    EXPECT_EQ(received.back().path, "/v1/traces");
    EXPECT_EQ(received.back().content_type, "application/json");
  }
  EXPECT_EQ(receiver.Received()[0].port, receiver.Received()[1].port);
}

TEST(CollectorClient, PacksWhatIsLargerThanAPacket) {
  TraceReceiver receiver;
  CollectorClient client(To(receiver));
  std::string body;
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&body, "{\"name\": ", i, "}");
  ASSERT_EQ(client.Send("{}").outcome, Outcome::kTaken);
  ASSERT_EQ(client.Send(body).outcome, Outcome::kTaken);
  const auto received = receiver.Received();
  EXPECT_EQ(received[0].encoding, "");
  EXPECT_EQ(received[1].encoding, "gzip");
  EXPECT_EQ(received[1].body, body);
  EXPECT_LT(received[1].sent_bytes, static_cast<int64_t>(body.size() / 3));
}

TEST(CollectorClient, TellsWhatMayBeTriedAgain) {
  TraceReceiver receiver;
  CollectorClient client(To(receiver, "/otlp"));
  for (const int status : {400, 401, 404, 413, 500}) {
    receiver.AnswerWith(status);
    EXPECT_EQ(client.Send("{}").outcome, Outcome::kRefused) << status;
  }
  for (const int status : {429, 502, 503, 504}) {
    receiver.AnswerWith(status, "7");
    const SendResult result = client.Send("{}");
    EXPECT_EQ(result.outcome, Outcome::kLater) << status;
    EXPECT_EQ(result.wait, absl::Seconds(7));
  }
  receiver.AnswerWith(503, "never");
  EXPECT_EQ(client.Send("{}").wait, absl::ZeroDuration());
  EXPECT_EQ(receiver.Received().back().path, "/otlp");
}

TEST(CollectorClient, TellsHowManySpansWereLeftOut) {
  TraceReceiver receiver;
  CollectorClient client(To(receiver));
  receiver.AnswerBody(R"({"partialSuccess": {"rejectedSpans": "3", "errorMessage": "too old"}})");
  const SendResult result = client.Send("{}");
  EXPECT_EQ(result.outcome, Outcome::kTaken);
  EXPECT_EQ(result.refused_spans, 3);
  EXPECT_EQ(result.why, "too old");
}

TEST(CollectorClient, SendsTheHeadersThatAFileHasNow) {
  TraceReceiver receiver;
  const TempFolder folder;
  CollectorClientOptions options = To(receiver);
  options.headers_file = folder.Write("headers", "Authorization: Bearer one\n");
  ASSERT_EQ(chmod(options.headers_file.c_str(), 0600), 0);
  CollectorClient client(options);
  ASSERT_EQ(client.Send("{}").outcome, Outcome::kTaken);
  folder.Write("headers", "# renewed\nauthorization:  Bearer two \n");
  ASSERT_EQ(client.Send("{}").outcome, Outcome::kTaken);
  EXPECT_EQ(receiver.Received()[0].authorization, "Bearer one");
  EXPECT_EQ(receiver.Received()[1].authorization, "Bearer two");
  // One that has become bad: nothing is sent without credentials, and nothing of it is told.
  folder.Write("headers", "Bearer three\n");
  const SendResult bad = client.Send("{}");
  EXPECT_EQ(bad.outcome, Outcome::kLater);
  EXPECT_THAT(bad.why, HasSubstr("line 1 must be NAME: VALUE"));
  EXPECT_THAT(bad.why, Not(HasSubstr("three")));
  EXPECT_EQ(receiver.Received().size(), 2U);
}

TEST(CollectorClient, NobodyThereIsLater) {
  const SilentPort port;  // bound, and not listened on
  CollectorClient client({port.address()});
  const SendResult result = client.Send("{}");
  EXPECT_EQ(result.outcome, Outcome::kLater);
  EXPECT_THAT(result.why, HasSubstr("127.0.0.1"));
}

TEST(CollectorClient, ANameThatIsNoneIsLater) {
  CollectorClient client({.address = {{"no..name", 4318}, "/v1/traces"}});
  EXPECT_EQ(client.Send("{}").outcome, Outcome::kLater);
}

TEST(CollectorClient, ACollectorThatHangsCostsItsTimeAndNoMore) {
  const SilentPort port;
  port.Listen();
  CollectorClientOptions options{port.address()};
  options.limit = absl::Milliseconds(50);
  CollectorClient client(options);
  const absl::Time began = absl::Now();
  EXPECT_EQ(client.Send("{}").outcome, Outcome::kLater);
  EXPECT_GE(absl::Now() - began, absl::Milliseconds(49));
}

TEST(CollectorClient, HurryEndsWhatHangs) {
  const SilentPort port;
  port.Listen();
  CollectorClientOptions options{port.address()};
  options.limit = absl::Hours(1);
  CollectorClient client(options);
  std::thread hurry([&client] { client.Hurry(); });
  const absl::Time began = absl::Now();
  EXPECT_EQ(client.Send("{}").outcome, Outcome::kLater);
  EXPECT_LT(absl::Now() - began, absl::Seconds(30));
  hurry.join();
  // The time is over for everything that comes later, too.
  EXPECT_EQ(client.Send("{}").outcome, Outcome::kLater);
}

TEST(CollectorClient, JunkIsNotTriedAgainAndSilenceIs) {
  EXPECT_EQ(SendTo(OneAnswer("")).outcome, Outcome::kLater);
  EXPECT_EQ(SendTo(OneAnswer("SSH-2.0-OpenSSH\r\n\r\n")).outcome, Outcome::kRefused);
  EXPECT_EQ(SendTo(OneAnswer("HTTP/1.1 abc\r\n\r\n")).outcome, Outcome::kRefused);
  EXPECT_EQ(SendTo(OneAnswer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")).outcome,
            Outcome::kTaken);
  EXPECT_EQ(SendTo(OneAnswer("HTTP/1.0 202 Accepted\r\n\r\n")).outcome, Outcome::kTaken);
  EXPECT_EQ(SendTo(OneAnswer("HTTP/1.1 503 x\r\nretry-AFTER:  3 \r\n\r\n")).wait, absl::Seconds(3));
}

TEST(CollectorClient, GoesNowhereElse) {
  TraceReceiver elsewhere;
  const SendResult result = SendTo(OneAnswer(absl::StrCat(
      "HTTP/1.1 307 x\r\nLocation: ", elsewhere.endpoint(), "/\r\nContent-Length: 0\r\n\r\n")));
  EXPECT_EQ(result.outcome, Outcome::kRefused);
  EXPECT_EQ(result.why, "status 307");
  EXPECT_EQ(elsewhere.Received().size(), 0U);
}

TEST(CollectorClient, ALargeAnswerIsReadUpToItsLimit) {
  const std::string large(1 << 20, 'x');
  EXPECT_EQ(SendTo(OneAnswer("HTTP/1.1 200 OK\r\n\r\n" + large)).outcome, Outcome::kTaken);
  EXPECT_EQ(SendTo(OneAnswer("HTTP/1.1 503 x\r\n\r\n" + large)).outcome, Outcome::kLater);
  std::string head = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 100; ++i) absl::StrAppend(&head, "X: ", large.substr(0, 4096), "\r\n");
  const SendResult result = SendTo(OneAnswer(head + "\r\n"));
  EXPECT_EQ(result.outcome, Outcome::kTaken);  // as its first line says
}

}  // namespace
}  // namespace reel::front
