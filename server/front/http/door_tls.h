// SPDX-License-Identifier: Apache-2.0
// TLS of the door: each encrypted connection is decrypted by a relay, whose other end is a plain
// socket of this process. So the door's connections know nothing of it.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/config/tls_files.h"
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace reel::front {

// Confined to the loop's thread, but for Make.
class DoorTls {
 public:
  // `stall`: how long a reader may take nothing. INVALID_ARGUMENT names every problem of the files;
  // later ones are logged, and the last good files serve on.
  static absl::StatusOr<std::unique_ptr<DoorTls>> Make(const TlsOptions& options,
                                                       absl::Duration stall);
  ~DoorTls();

  // What the client says and hears, plain; closed when there is no such thing.
  boost::asio::generic::stream_protocol::socket Decrypt(boost::asio::ip::tcp::socket encrypted);
  // At once: every relay ends.
  void CloseAll();

 private:
  class State;
  explicit DoorTls(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace reel::front
