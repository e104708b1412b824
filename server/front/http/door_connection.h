// SPDX-License-Identifier: Apache-2.0
// One connection of the door. Of Boost.Asio, so that only the listeners' own sources include it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "server/front/http/door_exchange.h"
#include "server/front/http/door_server.h"
#include "server/front/http/http_stream.h"
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>

namespace reel::front {

// Confined to the loop's thread.
class DoorConnection : public std::enable_shared_from_this<DoorConnection> {
 public:
  // `tls`: null where the door is plain.
  DoorConnection(HttpStream::Socket socket, boost::asio::ssl::context* tls,
                 const DoorServerParts& parts, const DoorLimits& limits,
                 boost::asio::thread_pool& pool);
  ~DoorConnection();

  // Lives until its socket is closed. Without room it answers 503 and closes.
  void Start(bool room);
  // `reset`: so that the client cannot take it for a clean end.
  void Close(bool reset = false);

 private:
  template <typename T>
  using Awaitable = boost::asio::awaitable<T>;
  using ErrorCode = boost::system::error_code;

  Awaitable<void> Run();
  Awaitable<void> RunRefusal();
  // False: the connection is done with.
  Awaitable<bool> BeginTls();
  Awaitable<bool> ReadHead(bool first, DoorHead& head);
  Awaitable<bool> ReadBody(DoorRequest& request);
  Awaitable<bool> ServeOne(DoorHead head);
  // The whole of a request whose body is a file.
  Awaitable<bool> TakeFile(const DoorRequest& request);
  Awaitable<bool> Answer(DoorRequest& request, const std::shared_ptr<DoorExchange>& exchange);
  Awaitable<bool> SendPiece(const DoorRequest& request, DoorWork work);
  Awaitable<bool> SendReply(const DoorRequest& request, DoorReply reply);
  Awaitable<bool> Write(std::string head, std::string body, absl::Duration limit);
  void Woken();
  // Hears whether the caller leaves, until StopWatch: nothing else may read meanwhile.
  void WatchCaller(const std::shared_ptr<DoorExchange>& exchange);
  Awaitable<void> StopWatch();
  void Heard(ErrorCode code, const std::shared_ptr<DoorExchange>& exchange);
  void EndRequest(const DoorRequest& request, const DoorExchange& exchange);
  std::string_view buffered() const;

  HttpStream stream_;
  boost::beast::flat_buffer buffer_;  // what has come and is not read
  char early_ = 0;                    // what a watched caller sends: its next request's first byte
  bool watching_ = false;
  boost::asio::steady_timer wake_;
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
