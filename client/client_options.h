// SPDX-License-Identifier: Apache-2.0
// Options of a client: address, credentials, timeouts. Plain values; nothing is read from the
// environment.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace reel::client {

// How long to retry when a server is down or busy. Only UNAVAILABLE and broken streams are tried
// again.
struct RetryOptions {
  // Tries of a call before its first answer, including the first one; also the number of jobs that
  // one stream may create when each is lost with its connection.
  int max_attempts = 4;
  // How often in a row a broken stream is resumed without progress.
  int max_resumes = 10;
  // Pauses double from the first to the last, and vary by 20 % so that clients do not retry at the
  // same moment.
  absl::Duration initial_backoff = absl::Milliseconds(100);
  absl::Duration max_backoff = absl::Seconds(5);
  // A server may ask for a longer pause; if it exceeds this, its answer is returned instead.
  absl::Duration max_server_delay = absl::Minutes(1);
  // Called before every pause, on the thread of the call. May be empty.
  std::function<void(const absl::Status& why, absl::Duration pause)> on_retry;
};

struct ClientOptions {
  // host:port, or unix:/path.
  std::string server = "127.0.0.1:50051";
  // TLS with the system's roots; implied by tls_ca.
  bool tls = false;
  // PEM files. The last two are the client's own certificate, for servers that ask for one.
  std::string tls_ca, tls_certificate, tls_key;
  // Holds a bearer token; read again for every call, since tokens are short-lived. Such a token is
  // sent over TLS, a loopback address or a Unix socket only.
  std::string token_file;
  // The deadline of each try of a call that does not stream.
  absl::Duration call_timeout = absl::Seconds(15);
  RetryOptions retry;
};

}  // namespace reel::client
