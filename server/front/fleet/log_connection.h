// SPDX-License-Identifier: Apache-2.0
// The one connection to the brokers, which comes back by itself, and what is asked of the stream.
// Thread-safe; every call waits for the broker.
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
  std::string ca_file, certificate_file, key_file;  // with TLS; the last two may be empty
  std::string fleet;                                // 1 to 16 of a-z and 0-9
  int replicas = 1;
  absl::Duration max_age = absl::Hours(24 * 7);
  int64_t max_bytes = int64_t{8} << 30;       // a full log refuses, it forgets nothing
  absl::Duration answer = absl::Seconds(1);   // for one question to the broker
  absl::Duration silence = absl::Seconds(2);  // after it the stream is looked at
  absl::Duration connect_limit = absl::Seconds(5);
};

bool IsEncrypted(const FleetLogOptions& options);

// Of libnats's options, with a seed (std::string). libnats 3.4 takes a signature that begins with a
// zero, as one in 256 does, for an empty text and sends none, and the server refuses the key. Such
// an attempt ends here instead, as one that failed: the next one is given another nonce.
natsStatus SignNonce(char** error, unsigned char** signature, int* size, const char* nonce,
                     void* seed);

// Into libnats's options. `options` outlives the connection: its key signs at each new one.
// FAILED_PRECONDITION: the files of TLS cannot be used.
absl::Status SetAccess(const FleetLogOptions& options, natsOptions& out);

// Why no connection was made. PERMISSION_DENIED: a server that answers does not know this one's
// key, password or certificate. FAILED_PRECONDITION: it speaks no TLS. UNAVAILABLE: anything else;
// also a certificate of another authority, since a server that ends looks the same.
absl::Status RefusedConnection(const FleetLogOptions& options, natsStatus status);

class LogConnection {
 public:
  // Looks at the version of each server that answers, connects, and makes the stream if it is not
  // there; within `connect_limit`. UNAVAILABLE: no server, or none that has JetStream yet.
  // FAILED_PRECONDITION: a server that is too old, a stream of another kind, or one in which an
  // earlier build has this fleet's videos. Other errors are as of RefusedConnection.
  static absl::StatusOr<std::unique_ptr<LogConnection>> Open(const FleetLogOptions& options);

  // Nothing is published while this is false: libnats would keep it, and send it later.
  bool IsUp() const;
  absl::StatusOr<StreamFacts> Look() const;
  // By the clock of the broker that leads the log. UNIMPLEMENTED: brokers before 2.10 do not say.
  absl::StatusOr<absl::Time> Time() const;

  // The only way to end a subscription. libnats 3.4 looks a subscription up and reads it without
  // holding it. If it is freed while a message for it comes, the connection's thread hangs or
  // crashes.
  void Retire(NatsSubscriptionPtr subscription) const;

  // Of the servers that answered when it was opened, each once, in order.
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
  // Of a fleet that has no stream yet.
  absl::Status CheckOldStream() const;
  absl::Status CheckStream(const jsStreamConfig& config) const;

  const FleetLogOptions options_;
  const LogNames names_;
  std::vector<std::string> versions_;
  mutable Mutex mutex_;
  mutable std::vector<NatsSubscriptionPtr> retired_ ABSL_GUARDED_BY(mutex_);
  // In this order: the context uses the connection.
  NatsConnectionPtr connection_;
  JetStreamPtr jet_stream_;
};

}  // namespace reel::front
