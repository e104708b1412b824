// SPDX-License-Identifier: Apache-2.0
// The channel to a server, its stubs, and what every call carries. Private to the library.
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
  // Reads the TLS files; touches no network.
  static absl::StatusOr<std::shared_ptr<const Connection>> Open(const ClientOptions& options);

  // The token and, if there is one, the deadline. Reads the token file.
  absl::Status Prepare(grpc::ClientContext& context, std::optional<absl::Duration> timeout) const;
  // Before another try: the channel forgets its own pause between attempts to connect, since ours
  // is over, and gets a moment for one.
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

// A finished call's verdict as a status with details, and the pushback that its trailers hold.
Failure MakeFailure(const grpc::Status& status, const grpc::ClientContext& context);

}  // namespace reel::client
