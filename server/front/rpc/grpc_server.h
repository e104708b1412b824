// SPDX-License-Identifier: Apache-2.0
// The public listener: gRPC's server with the guards that its version needs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/config/tls_files.h"

namespace grpc {
class Service;
}

namespace reel::front {

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
