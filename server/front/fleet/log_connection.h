// SPDX-License-Identifier: Apache-2.0
// The connection to the brokers, which reconnects by itself, and queries of the stream.
// Thread-safe; every call blocks on the broker.
#pragma once

#include <nats/nats.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/fleet/log_port.h"
#include "server/front/fleet/nats_handles.h"
#include "server/front/fleet/subjects.h"

namespace reel::front {

// Addresses, credentials and time limits of a fleet's log.
struct FleetLogOptions {
  std::vector<std::string> urls;                    // nats://HOST:PORT, or all tls://HOST:PORT
  std::string user, password;                       // empty: none
  std::string nkey_seed, nkey_public;               // likewise; in their place
  std::string ca_file, certificate_file, key_file;  // for TLS; the last two may be empty
  std::string fleet;                                // 1 to 16 of a-z and 0-9
  int replicas = 1;
  absl::Duration max_age = absl::Hours(24 * 7);
  int64_t max_bytes = int64_t{8} << 30;       // a full log refuses, it forgets nothing
  absl::Duration answer = absl::Seconds(1);   // for one question to the broker
  absl::Duration silence = absl::Seconds(2);  // without messages, before the stream is queried
  absl::Duration connect_limit = absl::Seconds(5);
};

bool IsEncrypted(const FleetLogOptions& options);

// Signature callback for libnats; `seed` is a std::string. libnats 3.4 takes a signature that
// begins with a zero byte, as one in 256 does, for an empty text and sends none, and the server
// refuses the key. Such an attempt fails here instead, and the next one gets another nonce.
natsStatus SignNonce(char** error, unsigned char** signature, int* size, const char* nonce,
                     void* seed);

// Sets the credentials in libnats's options. `options` outlives the connection, which signs with
// its key at each reconnect. FAILED_PRECONDITION: the TLS files cannot be used.
absl::Status SetAccess(const FleetLogOptions& options, natsOptions& out);

// The error for a failed connection. PERMISSION_DENIED: the server rejects this one's key, password
// or certificate. FAILED_PRECONDITION: it speaks no TLS. UNAVAILABLE: anything else, including a
// certificate of an unknown authority, which looks like a server that stops.
absl::Status RefusedConnection(const FleetLogOptions& options, natsStatus status);

class LogConnection {
 public:
  // Checks the version of each server that answers, connects, and creates a missing stream, within
  // `connect_limit`. UNAVAILABLE: no server has JetStream yet. FAILED_PRECONDITION: a server is too
  // old, the stream has other settings, or an earlier build's stream holds this fleet's videos.
  // Other errors as RefusedConnection.
  static absl::StatusOr<std::unique_ptr<LogConnection>> Open(const FleetLogOptions& options);

  // Publish nothing while this is false: libnats would buffer it and send it later.
  bool IsUp() const;
  absl::StatusOr<StreamFacts> Look() const;
  // Time by the clock of the broker that leads the log. UNIMPLEMENTED before version 2.10.
  absl::StatusOr<absl::Time> Time() const;

  // The only safe way to end a subscription. libnats 3.4 looks a subscription up and reads it
  // without holding it: if it is freed while a message arrives, the connection's thread hangs or
  // crashes.
  void Retire(NatsSubscriptionPtr subscription) const;

  // Versions of the servers that answered at Open, each once, in order.
  const std::vector<std::string>& versions() const { return versions_; }
  const FleetLogOptions& options() const { return options_; }
  const LogNames& names() const { return names_; }
  natsConnection* connection() const { return connection_.get(); }
  jsCtx* jet_stream() const { return jet_stream_.get(); }

  ~LogConnection();
  LogConnection(const LogConnection&) = delete;
  LogConnection& operator=(const LogConnection&) = delete;

 private:
  explicit LogConnection(const FleetLogOptions& options)
      : options_(options), names_(options.fleet) {}
  absl::Status TryOpen();
  absl::Status CheckServers();
  absl::Status Connect();
  absl::Status MakeStream() const;
  // For a fleet that has no stream yet.
  absl::Status CheckOldStream() const;
  absl::Status CheckStream(const jsStreamConfig& config) const;

  const FleetLogOptions options_;
  const LogNames names_;
  std::vector<std::string> versions_;
  mutable Mutex mutex_;
  mutable std::vector<NatsSubscriptionPtr> retired_ ABSL_GUARDED_BY(mutex_);
  // The order matters: the context uses the connection.
  NatsConnectionPtr connection_;
  JetStreamPtr jet_stream_;
};

}  // namespace reel::front
