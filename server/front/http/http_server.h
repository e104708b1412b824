// SPDX-License-Identifier: Apache-2.0
// /metrics, /healthz and /readyz on an address of their own, for operators and probes. No client,
// however slow, keeps another's answer back, or the server's end.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/front/config/address.h"

namespace reel::front {

// Called on the server's thread.
struct HttpPages {
  std::function<std::string()> metrics;
  std::function<bool()> healthy;
  std::function<bool()> ready;
  std::function<std::string()> why_not = {};  // lines to the answer "not ready"; may be empty
};

class HttpServer {
 public:
  // Listens at once; port 0 takes a free one. UNAVAILABLE when the address is taken.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const Address& address, HttpPages pages);
  // At once: answers under way are cut.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The real one, also for port 0.
  const std::string& address_text() const { return address_; }

 private:
  class Loop;
  HttpServer(std::unique_ptr<Loop> loop, std::string address);
  std::unique_ptr<Loop> loop_;
  std::string address_;
};

}  // namespace reel::front
