// SPDX-License-Identifier: Apache-2.0
// A collector for tests: takes OTLP/HTTP requests on a port of its own, plain or with TLS, and
// keeps them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace reel::testing {

struct ReceivedTraces {
  std::string path, content_type;
  std::string body;           // unpacked
  int64_t sent_bytes = 0;     // of the body as it came
  std::string encoding;       // Content-Encoding
  std::string authorization;  // Authorization
  int port = 0;               // the sender's
};

// Thread-safe.
class TraceReceiver {
 public:
  TraceReceiver();
  // With TLS; paths of PEM files.
  TraceReceiver(const std::string& certificate_file, const std::string& key_file);
  ~TraceReceiver();
  TraceReceiver(const TraceReceiver&) = delete;
  TraceReceiver& operator=(const TraceReceiver&) = delete;

  // "http://127.0.0.1:PORT", or https://
  const std::string& endpoint() const { return endpoint_; }
  int port() const { return port_; }
  // From now on; empty `retry_after`: without that field. Refused requests are kept as well.
  void AnswerWith(int status, const std::string& retry_after = "");
  // From now on, instead of "{}".
  void AnswerBody(const std::string& body);
  // All there were, once there are at least so many; gives up after half a minute.
  std::vector<ReceivedTraces> Await(size_t count);
  std::vector<ReceivedTraces> Received() { return Await(0); }

 private:
  struct Impl;
  explicit TraceReceiver(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  int port_ = 0;
  std::string endpoint_;
};

}  // namespace reel::testing
