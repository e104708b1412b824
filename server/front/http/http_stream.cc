// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/http_stream.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include <boost/asio/buffer.hpp>

namespace reel::front {
namespace {

// A crowd that comes at once is taken in; whoever finds no place here tries again a second later.
constexpr int kBacklog = SOMAXCONN;

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

AddressList Resolve(const Address& address) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  if (getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found) != 0) found = nullptr;
  return {found, &freeaddrinfo};
}

FileDescriptor Listen(const addrinfo& place) {
  FileDescriptor socket(
      ::socket(place.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, place.ai_protocol));
  if (!socket) return {};
  const int yes = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(socket.get(), place.ai_addr, place.ai_addrlen) != 0) return {};
  if (listen(socket.get(), kBacklog) != 0) return {};
  return socket;
}

int PortOf(int socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  // The port stands at the same place in both.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
}

}  // namespace

absl::StatusOr<FileDescriptor> ListenOn(Address& address) {
  const AddressList places = Resolve(address);
  for (const addrinfo* place = places.get(); place != nullptr; place = place->ai_next) {
    FileDescriptor socket = Listen(*place);
    if (!socket) continue;
    address.port = PortOf(socket.get());
    return socket;
  }
  return absl::UnavailableError(absl::StrCat(
      "The HTTP server cannot listen: the address may be in use or not of this machine: ",
      address.ToString()));
}

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

HttpStream::Awaitable<void> HttpStream::Linger(const Lingering& bounds) {
  const auto began = std::chrono::steady_clock::now();
  Limit(std::min(bounds.pause, bounds.time));
  ErrorCode code;
  // Sends TLS's closing message. Fails while the client is still sending, which is no matter.
  if (tls_) co_await tls_->async_shutdown(Await(code));
  socket_.shutdown(Socket::shutdown_send, code);
  std::array<char, 16384> piece;
  const auto room = boost::asio::buffer(piece);
  for (size_t dropped = 0; !code && !late_ && dropped < bounds.bytes;) {
    const auto lingered = absl::FromChrono(std::chrono::steady_clock::now() - began);
    const auto earned = absl::Seconds(dropped / bounds.bytes_per_second);
    const absl::Duration left = bounds.time + earned - lingered;
    if (left <= absl::ZeroDuration()) break;
    Limit(std::min(bounds.pause, left));
    dropped += co_await socket_.async_read_some(room, Await(code));
  }
}

}  // namespace reel::front
