// SPDX-License-Identifier: Apache-2.0
// The channel to a server, its stubs, and the metadata of every call. Private to the library.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "client/client_options.h"
#include "client/retry.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "reel/v1/server_service.grpc.pb.h"
#include "reel/v1/video_service.grpc.pb.h"

namespace reel::client {

// Thread-safe. Shared by a client and its streams, whichever lives longer.
class Connection {
 public:
  // Reads the TLS files; makes no connection.
  static absl::StatusOr<std::shared_ptr<const Connection>> Open(const ClientOptions& options);

  // Adds the token and, if given, the deadline. Reads the token file.
  absl::Status Prepare(grpc::ClientContext& context, std::optional<absl::Duration> timeout) const;
  // Call before a retry: resets the channel's own pause between connection attempts, since ours is
  // over, and gives it a moment to connect.
  void Reconnect() const;
  // True once the server has answered the connection.
  bool WaitUntilConnected(absl::Duration timeout) const;

  const ClientOptions& options() const { return options_; }
  v1::VideoService::Stub& videos() const { return *videos_; }
  v1::ServerService::Stub& server() const { return *server_; }
  grpc::health::v1::Health::Stub& health() const { return *health_; }

 private:
  Connection(const ClientOptions& options, std::shared_ptr<grpc::Channel> channel);

  const ClientOptions options_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::VideoService::Stub> videos_;
  const std::unique_ptr<v1::ServerService::Stub> server_;
  const std::unique_ptr<grpc::health::v1::Health::Stub> health_;
};

// A finished call's status with details, and the pushback from its trailers.
Failure MakeFailure(const grpc::Status& status, const grpc::ClientContext& context);

}  // namespace reel::client
