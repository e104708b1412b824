// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/http_exchange.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace reel::front {
namespace {

constexpr size_t kPiece = 4096;
// Of what follows a request, so that the answer is not lost in a reset.
constexpr size_t kMaxDropped = 1 << 20;

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

HttpExchange::HttpExchange(FileDescriptor socket, Time end)
    : socket_(std::move(socket)), end_(end) {}

bool HttpExchange::Advance(const Answer& answer) {
  switch (stage_) {
    case Stage::kReading:
      return Read(answer);
    case Stage::kSending:
      return Send();
    case Stage::kLingering:
      return Linger();
  }
  return false;
}

bool HttpExchange::Read(const Answer& answer) {
  char piece[kPiece];
  const ssize_t got = recv(socket_.get(), piece, sizeof piece, 0);
  if (got < 0) return WouldBlock();
  if (got == 0) return false;
  in_.append(piece, static_cast<size_t>(got));
  const size_t head = HeadLength(in_);
  if (head == 0 && in_.size() <= kMaxHeadBytes) return true;
  Reply(answer, head);
  return Send();
}

void HttpExchange::Reply(const Answer& answer, size_t head) {
  stage_ = Stage::kSending;
  if (head == 0 || head > kMaxHeadBytes) {
    out_ = WriteAnswer({431, "the request's head is larger than 8 KiB\n"});
  } else if (const auto request = ParseHead(std::string_view(in_).substr(0, head))) {
    out_ = WriteAnswer(answer(*request), request->method != "HEAD");
  } else {
    out_ = WriteAnswer({400, "this is not an HTTP/1 request\n"});
  }
  in_ = {};
}

bool HttpExchange::Send() {
  while (sent_ < out_.size()) {
    const ssize_t sent =
        send(socket_.get(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
    if (sent < 0) return WouldBlock();
    sent_ += static_cast<size_t>(sent);
  }
  out_ = {};
  stage_ = Stage::kLingering;
  return shutdown(socket_.get(), SHUT_WR) == 0;
}

bool HttpExchange::Linger() {
  char piece[kPiece];
  const ssize_t got = recv(socket_.get(), piece, sizeof piece, 0);
  if (got < 0) return WouldBlock();
  dropped_ += static_cast<size_t>(got);
  return got > 0 && dropped_ < kMaxDropped;
}

}  // namespace reel::front
