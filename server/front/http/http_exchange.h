// SPDX-License-Identifier: Apache-2.0
// One connection: a request in, an answer out, the end. Never waits.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "server/front/http/http_request.h"
#include "server/front/workers/file_descriptor.h"

namespace reel::front {

// Confined to the server's thread.
class HttpExchange {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Answer = std::function<HttpAnswer(const HttpRequest&)>;

  // `socket` does not block. The whole exchange has until `end`.
  HttpExchange(FileDescriptor socket, Time end);

  int socket() const { return socket_.get(); }
  Time end() const { return end_; }
  // True while it waits to send; otherwise for more to read.
  bool sending() const { return stage_ == Stage::kSending; }
  // Only waits for its client to close.
  bool answered() const { return stage_ == Stage::kLingering; }
  // The socket is ready. False when the connection is done with.
  bool Advance(const Answer& answer);

 private:
  enum class Stage { kReading, kSending, kLingering };

  bool Read(const Answer& answer);
  bool Send();
  bool Linger();
  void Reply(const Answer& answer, size_t head);

  FileDescriptor socket_;
  const Time end_;
  Stage stage_ = Stage::kReading;
  std::string in_, out_;
  size_t sent_ = 0, dropped_ = 0;
};

}  // namespace reel::front
