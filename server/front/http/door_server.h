// SPDX-License-Identifier: Apache-2.0
// The HTTP door: a listener of its own, one thread that waits for all connections, two that make
// and read JSON and files.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/api/call_observer.h"
#include "server/front/api/open_calls.h"
#include "server/front/api/stream_driver.h"
#include "server/front/api/tls_watch.h"
#include "server/front/config/address.h"
#include "server/front/config/tls_files.h"
#include "server/front/http/door.h"
#include "server/front/http/lingering.h"
#include <boost/asio/ssl/context.hpp>

namespace reel::front {

// The certificate that the door shows, and whose clients it takes: looked at for each connection.
// Confined to the loop's thread, but for Make.
class DoorTls {
 public:
  // INVALID_ARGUMENT names every problem of the files; later ones are logged, and the last good
  // files serve on.
  static absl::StatusOr<std::unique_ptr<DoorTls>> Make(const TlsOptions& options);

  // Of a connection that begins now.
  boost::asio::ssl::context& Current();

 private:
  explicit DoorTls(const TlsOptions& options) : watch_(options, {}) {}
  void Take(const std::optional<TlsFiles>& fresh);

  TlsWatch watch_;
  std::unique_ptr<boost::asio::ssl::context> context_;
};

struct DoorLimits {
  absl::Duration head = absl::Seconds(5);     // all of it
  absl::Duration body = absl::Seconds(30);    // all of it
  absl::Duration idle = absl::Seconds(30);    // between two requests
  absl::Duration answer = absl::Seconds(10);  // to the first byte of a reply
  absl::Duration write_stall = absl::Seconds(30);
  int connections = 12'000;
  Lingering linger;
};

// What it uses, and what outlives it.
struct DoorServerParts {
  const Door& door;
  StreamPump& pump;
  OpenCalls& open_calls;
  CallObserver& calls;
  DoorObserver& observer;
};

class DoorServer {
 public:
  // Listens at once; port 0 takes a free one. `tls` without a certificate: plain. UNAVAILABLE when
  // the address is taken, INVALID_ARGUMENT for a certificate that cannot serve.
  static absl::StatusOr<std::unique_ptr<DoorServer>> Start(const Address& address,
                                                           const DoorServerParts& parts,
                                                           const DoorLimits& limits,
                                                           const TlsOptions& tls = {});
  // At once: what is under way is cut.
  ~DoorServer();
  DoorServer(const DoorServer&) = delete;
  DoorServer& operator=(const DoorServer&) = delete;

  // The real one, also for port 0.
  const std::string& address_text() const { return address_; }

 private:
  class Loop;
  DoorServer(std::unique_ptr<Loop> loop, std::string address);
  std::unique_ptr<Loop> loop_;
  std::string address_;
};

}  // namespace reel::front
