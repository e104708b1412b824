// SPDX-License-Identifier: Apache-2.0
// A TCP socket that listens, and a client's connection, plain or with TLS, as Boost.Asio and Beast
// read and write it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/config/address.h"
#include "server/front/http/lingering.h"
#include "server/front/workers/file_descriptor.h"
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace reel::front {

// Listens. Does not block. UNAVAILABLE when the address is taken or not of this machine. Sets the
// port where that was 0.
absl::StatusOr<FileDescriptor> ListenOn(Address& address);

// A client's connection, plain or with TLS, as Boost.Asio and Beast read and write it.
// Confined to its listener's thread. One read and one write may be under way at a time.
class HttpStream {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using ErrorCode = boost::system::error_code;
  using executor_type = Socket::executor_type;
  template <typename T>
  using Awaitable = boost::asio::awaitable<T>;

  // `tls`: null where the connection is plain; need not outlive the call.
  HttpStream(Socket socket, boost::asio::ssl::context* tls);
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;

  executor_type get_executor() { return socket_.get_executor(); }
  bool encrypted() const { return tls_.has_value(); }

  // What is under way when the time is over, and later, ends with an error and `late`; the next
  // limit, or one without end, lifts it.
  void Limit(absl::Duration time);
  bool late() const { return late_; }
  // What is under way ends with an error; later reads and writes are as before.
  void Cancel();
  // At once. `reset`: so that the client cannot take it for a clean end.
  void Close(bool reset = false);

  // Of an encrypted one, before all else.
  Awaitable<ErrorCode> Handshake();
  // Closes the sending side, then reads and drops what the client still sends, within `bounds`.
  // They replace an earlier Limit.
  Awaitable<void> Linger(const Lingering& bounds);

  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(ErrorCode, size_t)>(
        [this](auto handler, const Buffers& room) {
          if (tls_) return tls_->async_read_some(room, std::move(handler));
          return socket_.async_read_some(room, std::move(handler));
        },
        token, buffers);
  }
  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(ErrorCode, size_t)>(
        [this](auto handler, const Buffers& bytes) {
          if (tls_) return tls_->async_write_some(bytes, std::move(handler));
          return socket_.async_write_some(bytes, std::move(handler));
        },
        token, buffers);
  }

 private:
  void Arm(absl::Duration time);

  Socket socket_;
  std::optional<boost::asio::ssl::stream<Socket&>> tls_;
  boost::asio::steady_timer limit_;
  // Counted, so that one that was lifted late does nothing; shared with those that have not come.
  const std::shared_ptr<int64_t> limits_set_ = std::make_shared<int64_t>(0);
  bool late_ = false;
};

// `co_await stream.async_read_some(buffer, Await(code))`.
inline auto Await(boost::system::error_code& code) {
  return boost::asio::redirect_error(boost::asio::use_awaitable, code);
}

}  // namespace reel::front
