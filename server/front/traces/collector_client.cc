// SPDX-License-Identifier: Apache-2.0
#include "server/front/traces/collector_client.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace reel::front {
namespace {

using Clock = std::chrono::steady_clock;
using Outcome = SendResult::Outcome;

constexpr absl::Duration kHurry = absl::Milliseconds(500);
constexpr size_t kMostHead = 16 * 1024;

bool MustWait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

// The value of a field of an answer's head; empty: it has none.
std::string FieldOf(const std::string& head, std::string_view name) {
  for (const absl::string_view line : absl::StrSplit(head, "\r\n")) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (parts.size() != 2 || absl::AsciiStrToLower(parts[0]) != name) continue;
    return std::string(absl::StripAsciiWhitespace(parts[1]));
  }
  return "";
}

SendResult Later(const char* why) { return {Outcome::kLater, absl::ZeroDuration(), why}; }

}  // namespace

SendResult ReadAnswer(const std::string& head) {
  if (head.empty()) return Later("no answer came");
  int status = 0;
  if (head.size() < 12 || head.compare(0, 7, "HTTP/1.") != 0 ||
      !absl::SimpleAtoi(head.substr(9, 3), &status)) {
    return {Outcome::kRefused, {}, "the answer is not HTTP/1"};
  }
  if (status >= 200 && status < 300) return {};
  SendResult result{Outcome::kRefused, {}, absl::StrCat("status ", status)};
  // Those that OTLP/HTTP says may be tried again.
  if (status != 429 && status != 502 && status != 503 && status != 504) return result;
  result.outcome = Outcome::kLater;
  int seconds = 0;
  if (absl::SimpleAtoi(FieldOf(head, "retry-after"), &seconds) && seconds > 0) {
    result.wait = absl::Seconds(seconds);
  }
  return result;
}

CollectorClient::CollectorClient(const CollectorAddress& address, absl::Duration limit)
    : address_(address),
      limit_(limit),
      lookup_(address.address),
      last_end_(std::numeric_limits<Clock::rep>::max()),
      hurried_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void CollectorClient::Hurry() {
  const Clock::time_point end = Clock::now() + absl::ToChronoNanoseconds(kHurry);
  last_end_.store(end.time_since_epoch().count());
  eventfd_write(hurried_.get(), 1);
}

absl::Duration CollectorClient::Left() const {
  const Clock::time_point last{Clock::duration(last_end_.load())};
  return absl::FromChrono(std::min(end_, last) - Clock::now());
}

bool CollectorClient::WaitFor(int socket, short events) const {
  for (;;) {
    // Once hurried, the event stays readable: only the time counts then. Asked before the time is,
    // so that a hurry between the two is seen by the event.
    const bool hurried = last_end_.load() != std::numeric_limits<Clock::rep>::max();
    const absl::Duration left = Left();
    if (left <= absl::ZeroDuration()) return false;
    pollfd waits[] = {{socket, events, 0}, {hurried_.get(), POLLIN, 0}};
    const int ready =
        poll(waits, hurried ? 1 : 2, static_cast<int>(absl::ToInt64Milliseconds(left)) + 1);
    if (ready < 0 && errno != EINTR) return false;
    if (ready > 0 && waits[0].revents != 0) return true;
  }
}

FileDescriptor CollectorClient::ConnectTo(const addrinfo& place) const {
  FileDescriptor socket(
      ::socket(place.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, place.ai_protocol));
  if (!socket) return {};
  if (connect(socket.get(), place.ai_addr, place.ai_addrlen) != 0) {
    if (errno != EINPROGRESS || !WaitFor(socket.get(), POLLOUT)) return {};
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) return {};
  }
  return socket;
}

FileDescriptor CollectorClient::Connect() {
  const AddressList places = lookup_.Find([this] { return Left(); });
  for (const addrinfo* place = places.get(); place != nullptr; place = place->ai_next) {
    if (FileDescriptor socket = ConnectTo(*place)) return socket;
  }
  return {};
}

bool CollectorClient::SendAll(int socket, const std::string& bytes) const {
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t some = send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (some > 0) {
      sent += static_cast<size_t>(some);
    } else if (!MustWait() || !WaitFor(socket, POLLOUT)) {
      return false;
    }
  }
  return true;
}

std::string CollectorClient::ReceiveHead(int socket) const {
  std::string head;
  char piece[2048];
  while (head.size() < kMostHead && head.find("\r\n\r\n") == std::string::npos) {
    const ssize_t some = recv(socket, piece, sizeof piece, 0);
    if (some > 0) {
      head.append(piece, static_cast<size_t>(some));
    } else if (some == 0 || !MustWait() || !WaitFor(socket, POLLIN)) {
      return "";
    }
  }
  return head;
}

SendResult CollectorClient::Send(const std::string& body) {
  end_ = Clock::now() + absl::ToChronoNanoseconds(limit_);
  const FileDescriptor socket = Connect();
  if (!socket) return Later("it cannot be reached");
  const std::string head =
      absl::StrCat("POST ", address_.path, " HTTP/1.1\r\nHost: ", address_.address.ToString(),
                   "\r\nContent-Type: application/json\r\nContent-Length: ", body.size(),
                   "\r\nUser-Agent: reel\r\nConnection: close\r\n\r\n");
  // A collector that refuses early may close before it has read all; its answer tells why.
  const bool sent = SendAll(socket.get(), head) && SendAll(socket.get(), body);
  SendResult result = ReadAnswer(ReceiveHead(socket.get()));
  if (!sent && result.outcome == Outcome::kTaken) return Later("it hung up");
  return result;
}

}  // namespace reel::front
