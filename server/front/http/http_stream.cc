// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/http_stream.h"

#include <array>

#include <boost/asio/buffer.hpp>

namespace reel::front {

namespace {

// A call that was between two of its steps when it was cancelled goes on to the next one.
constexpr absl::Duration kAgain = absl::Seconds(1);

}  // namespace

HttpStream::HttpStream(Socket socket, boost::asio::ssl::context* tls)
    : socket_(std::move(socket)), limit_(socket_.get_executor()) {
  if (tls != nullptr) tls_.emplace(socket_, *tls);
}

void HttpStream::Limit(absl::Duration time) {
  late_ = false;
  limit_.cancel();
  ++*limits_set_;
  if (time != absl::InfiniteDuration()) Arm(time);
}

void HttpStream::Arm(absl::Duration time) {
  limit_.expires_after(absl::ToChronoNanoseconds(time));
  limit_.async_wait([this, weak = std::weak_ptr(limits_set_), own = *limits_set_](ErrorCode code) {
    const auto latest = weak.lock();  // null: the stream has gone
    if (code || latest == nullptr || *latest != own) return;
    late_ = true;
    Cancel();
    Arm(kAgain);
  });
}

void HttpStream::Cancel() {
  ErrorCode ignored;
  socket_.cancel(ignored);
}

void HttpStream::Close(bool reset) {
  ErrorCode ignored;
  if (reset) socket_.set_option(boost::asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
  Limit(absl::InfiniteDuration());
}

HttpStream::Awaitable<HttpStream::ErrorCode> HttpStream::Handshake() {
  ErrorCode code;
  co_await tls_->async_handshake(boost::asio::ssl::stream_base::server, Await(code));
  co_return code;
}

HttpStream::Awaitable<void> HttpStream::Linger(size_t most_bytes) {
  ErrorCode code;
  // Until the client has said its last word, or anything else.
  if (tls_) co_await tls_->async_shutdown(Await(code));
  socket_.shutdown(Socket::shutdown_send, code);
  std::array<char, 4096> piece;
  const auto room = boost::asio::buffer(piece);
  for (size_t dropped = 0; !code && !late_ && dropped < most_bytes;) {
    dropped += co_await socket_.async_read_some(room, Await(code));
  }
}

}  // namespace reel::front
