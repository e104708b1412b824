// SPDX-License-Identifier: Apache-2.0
// The certificate that the door shows, and whose clients it takes: looked at for each connection.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "server/front/api/tls_watch.h"
#include "server/front/config/tls_files.h"
#include <boost/asio/ssl/context.hpp>

namespace reel::front {

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

}  // namespace reel::front
