// SPDX-License-Identifier: Apache-2.0
// One connection of the door. Of Boost.Asio, so that only the door's own two sources include it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "server/front/http/door_exchange.h"
#include "server/front/http/door_server.h"
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>

namespace reel::front {

// Confined to the loop's thread.
class DoorConnection : public std::enable_shared_from_this<DoorConnection> {
 public:
  // A client's own, or what TLS makes of it.
  using Socket = boost::asio::generic::stream_protocol::socket;

  DoorConnection(Socket socket, const DoorServerParts& parts, const DoorLimits& limits,
                 boost::asio::thread_pool& pool);
  ~DoorConnection();

  // Lives until its socket is closed. Without room it answers 503 and closes.
  void Start(bool room);
  void Close();

 private:
  template <typename T>
  using Awaitable = boost::asio::awaitable<T>;
  using ErrorCode = boost::system::error_code;

  Awaitable<void> Run();
  Awaitable<void> RunRefusal();
  // False: the connection is done with.
  Awaitable<bool> ReadHead(bool first, DoorHead& head);
  Awaitable<bool> ReadBody(DoorRequest& request);
  Awaitable<bool> ServeOne(DoorHead head);
  Awaitable<bool> Answer(DoorRequest& request, const std::shared_ptr<DoorExchange>& exchange);
  Awaitable<bool> SendPiece(const DoorRequest& request, DoorWork work);
  Awaitable<bool> SendReply(const DoorRequest& request, DoorReply reply);
  Awaitable<bool> Write(std::string head, std::string body, absl::Duration limit);
  // What is awaited from now on ends when the time is over, with `late_`; none lifts it.
  void Limit(absl::Duration time);
  // Takes what comes for a moment, so that a reset does not eat the reply.
  Awaitable<void> Linger();
  void Woken();
  void WatchCaller(const std::shared_ptr<DoorExchange>& exchange);
  void EndRequest(const DoorRequest& request, DoorExchange& exchange);
  std::string_view buffered() const;

  Socket socket_;
  boost::beast::flat_buffer buffer_;
  size_t head_size_ = 0;  // of the request under way, at the start of `buffer_` until it is read
  boost::asio::steady_timer wake_, limit_;
  int64_t limits_set_ = 0;  // so that one that was lifted late does nothing
  bool late_ = false;       // what was under way was stopped by a limit
  const DoorServerParts parts_;
  const DoorLimits& limits_;
  boost::asio::thread_pool& pool_;
  std::weak_ptr<DoorExchange> exchange_;  // of the request under way
  std::chrono::steady_clock::time_point began_;
  int status_ = 0;         // of the reply that was sent last
  bool head_out_ = false;  // of a stream
  bool chunked_ = false;
  bool keep_alive_ = true;
  bool reset_ = false;
};

}  // namespace reel::front
