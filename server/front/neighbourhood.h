// SPDX-License-Identifier: Apache-2.0
// The other servers of a fleet: the listener at which they hear this one's videos, and the calls by
// which this one hears theirs.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/front/api/stream_driver.h"
#include "server/front/node/fleet_service.h"
#include "server/front/rpc/call_context.h"

namespace reel::config::v1 {
class ServerConfig;
}

namespace reel::front {

class Neighbourhood {
 public:
  // Listens at once. Of a configuration that has fleet.listen. All but that outlives it.
  static absl::StatusOr<std::unique_ptr<Neighbourhood>> Open(const config::v1::ServerConfig& config,
                                                             const CallEnvironment& environment,
                                                             FleetService& fleet, StreamPump& pump,
                                                             const std::string& spool_folder);
  ~Neighbourhood();

  Neighbours neighbours() const;
  const std::string& address() const;
  // All calls are ended, those to others too; returns when gRPC has let go of them, or soon after.
  void Shutdown();

 private:
  struct Impl;
  explicit Neighbourhood(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reel::front
