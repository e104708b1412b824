// SPDX-License-Identifier: Apache-2.0
// A collector for tests: takes OTLP/HTTP requests on a port of its own and keeps them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace reel::testing {

struct ReceivedTraces {
  std::string path, content_type, body;
};

// Thread-safe.
class TraceReceiver {
 public:
  TraceReceiver();
  ~TraceReceiver();
  TraceReceiver(const TraceReceiver&) = delete;
  TraceReceiver& operator=(const TraceReceiver&) = delete;

  // "http://127.0.0.1:PORT"
  const std::string& endpoint() const { return endpoint_; }
  int port() const { return port_; }
  // From now on; empty `retry_after`: without that field. Refused requests are kept as well.
  void AnswerWith(int status, const std::string& retry_after = "");
  // All there were, once there are at least so many; gives up after half a minute.
  std::vector<ReceivedTraces> Await(size_t count);
  std::vector<ReceivedTraces> Received() { return Await(0); }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  int port_ = 0;
  std::string endpoint_;
};

}  // namespace reel::testing
