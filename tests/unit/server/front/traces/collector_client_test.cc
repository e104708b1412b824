// SPDX-License-Identifier: Apache-2.0
#include "server/front/traces/collector_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "tests/fakes/trace_receiver.h"

namespace reel::front {
namespace {

using Outcome = SendResult::Outcome;
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
  void Listen() { EXPECT_EQ(listen(socket_.get(), 8), 0); }
  CollectorAddress address() const { return {{"127.0.0.1", port_}, "/v1/traces"}; }

 private:
  FileDescriptor socket_;
  int port_ = 0;
};

TEST(CollectorClient, SendsABodyOfAnySize) {
  TraceReceiver receiver;
  CollectorClient client(*ParseCollectorAddress(receiver.endpoint()));
  for (const size_t size : {2U, 5'000'000U}) {
    const std::string body(size, 'x');
    const SendResult result = client.Send(body);
    EXPECT_EQ(result.outcome, Outcome::kTaken) << result.why;
    const auto received = receiver.Received();
    EXPECT_EQ(received.back().body, body);
    EXPECT_EQ(received.back().path, "/v1/traces");
    EXPECT_EQ(received.back().content_type, "application/json");
  }
}

TEST(CollectorClient, TellsWhatMayBeTriedAgain) {
  TraceReceiver receiver;
  CollectorClient client(*ParseCollectorAddress(receiver.endpoint() + "/otlp"));
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
  EXPECT_EQ(receiver.Received().back().path, "/otlp");
}

TEST(CollectorClient, NobodyThereIsLater) {
  const SilentPort port;  // bound, and not listened on
  CollectorClient client(port.address());
  EXPECT_EQ(client.Send("{}").outcome, Outcome::kLater);
}

TEST(CollectorClient, ACollectorThatHangsCostsItsTimeAndNoMore) {
  SilentPort port;
  port.Listen();
  CollectorClient client(port.address(), absl::Milliseconds(50));
  const absl::Time began = absl::Now();
  EXPECT_EQ(client.Send("{}").outcome, Outcome::kLater);
  EXPECT_GE(absl::Now() - began, absl::Milliseconds(49));
}

TEST(CollectorClient, HurryEndsWhatHangs) {
  SilentPort port;
  port.Listen();
  CollectorClient client(port.address(), absl::Hours(1));
  std::thread hurry([&client] { client.Hurry(); });
  EXPECT_EQ(client.Send("{}").outcome, Outcome::kLater);
  hurry.join();
  // The time is over for everything that comes later, too.
  EXPECT_EQ(client.Send("{}").outcome, Outcome::kLater);
}

TEST(ReadAnswer, JunkIsNotTriedAgainAndSilenceIs) {
  EXPECT_EQ(ReadAnswer("").outcome, Outcome::kLater);
  EXPECT_EQ(ReadAnswer("SSH-2.0-OpenSSH\r\n\r\n").outcome, Outcome::kRefused);
  EXPECT_EQ(ReadAnswer("HTTP/1.1 abc\r\n\r\n").outcome, Outcome::kRefused);
  EXPECT_EQ(ReadAnswer("HTTP/1.1 200 OK\r\n\r\n").outcome, Outcome::kTaken);
  EXPECT_EQ(ReadAnswer("HTTP/1.0 202 Accepted\r\n\r\n").outcome, Outcome::kTaken);
  EXPECT_EQ(ReadAnswer("HTTP/1.1 503 x\r\nretry-AFTER:  3 \r\n\r\n").wait, absl::Seconds(3));
  EXPECT_EQ(ReadAnswer("HTTP/1.1 503 x\r\nRetry-After: never\r\n\r\n").wait, absl::ZeroDuration());
}

}  // namespace
}  // namespace reel::front
