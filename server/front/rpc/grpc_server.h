// SPDX-License-Identifier: Apache-2.0
// The public listener: gRPC's server with the guards that its version needs.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/config/tls_files.h"

namespace grpc {
class Service;
}

namespace reel::front {

// The own lines of gRPC in our log, so that every line is one object. For the whole process; after
// InitLog. gRPC's errors are warnings to us: they tell of single connections, not of the server.
void TakeGrpcLog();
// Likewise. Protobuf's errors tell of single messages, whose calls say the same: they are notes.
void TakeProtobufLog();

// When the last connection came that nobody had called over before: a listener that takes one is
// alive, however long its server lets calls wait under load. Free of gRPC.
// Thread-safe. Remembers the latest connections, as many as a server has descriptors for in most
// places.
class NewConnections {
 public:
  using Clock = std::chrono::steady_clock;

  // A call begins over `connection`, the caller's address.
  void Note(const std::string& connection);
  // Of the last call that was the first of its connection; the clock's epoch when there was none.
  Clock::time_point latest() const;

 private:
  mutable Mutex mutex_;
  std::unordered_set<std::string> known_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::string> order_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  Clock::time_point latest_ ABSL_GUARDED_BY(mutex_);
};

// TLS of a listener whose certificate is renewed while it serves: each new connection gets what the
// files hold now, the ones that are open stay as they are. Must outlive the server.
// INVALID_ARGUMENT names every problem of the files; later ones are logged, and the last good files
// serve on. `valid_until` hears, on any thread, until when each certificate that is taken holds;
// may be empty.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeTlsCredentials(
    const TlsOptions& options, std::function<void(absl::Time)> valid_until = {});

struct GrpcServerOptions {
  std::string address;  // "host:port"; port 0 takes a free one
  TlsOptions tls;
  // Until when a certificate that is taken holds; on any thread; may be empty.
  std::function<void(absl::Time)> certificate_valid_until;
  bool reflection = false;
  // Connections are closed in good order after a while; calls on them have this long to end.
  absl::Duration longest_call = absl::Minutes(31);
};

// Thread-safe but for its end.
class GrpcServer {
 public:
  // Listens at once. `services` must outlive the server. UNAVAILABLE when the address is taken,
  // INVALID_ARGUMENT for unusable certificates.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(
      const GrpcServerOptions& options, const std::vector<grpc::Service*>& services);
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // The real one, also for port 0.
  const std::string& address() const { return address_; }
  // Closes the listener, gives open calls `grace`, then cancels them; returns when all are gone.
  void Shutdown(absl::Duration grace);

 private:
  struct Impl;
  explicit GrpcServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  std::string address_;
};

// Keeps gRPC's library until the process ends. Else the last of its objects waits, when it goes,
// for its threads, of which one may poll for ten seconds: longer than a drain may take.
void KeepGrpc();

// The limit of open descriptors to its hard limit: a listener that runs out of them once is dead
// for good. Returns the limit.
int64_t RaiseDescriptorLimit();

}  // namespace reel::front
