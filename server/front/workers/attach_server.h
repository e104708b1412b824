// SPDX-License-Identifier: Apache-2.0
// The server that workers dial: gRPC on a Unix socket, one method, no reflection. The only file
// here that knows gRPC is its source.
#pragma once

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "server/front/workers/session.h"

namespace reel::front {

class AttachServer {
 public:
  // Decides about a stream by its first message, on a gRPC thread. The owner outlives the server.
  // Refused: the stream ends with that status.
  using Admit = absl::AnyInvocable<absl::StatusOr<SessionOwner*>(
      const worker::v1::Hello& hello, std::shared_ptr<Session> session) const>;

  // Listens on `socket_path`, of at most 107 bytes. UNAVAILABLE when that fails.
  static absl::StatusOr<std::unique_ptr<AttachServer>> Start(const std::string& socket_path,
                                                             Admit admit);
  // Ends every stream; all owners have seen OnBroken when it returns.
  ~AttachServer();

 private:
  class Impl;
  explicit AttachServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reel::front
