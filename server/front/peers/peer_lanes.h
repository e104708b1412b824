// SPDX-License-Identifier: Apache-2.0
// Connections to other nodes, a few to each: one carries so many streams and no more.
#pragma once

#include <grpcpp/channel.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/base/mutex.h"
#include "server/front/config/tls_files.h"

namespace reel::front {

// A place on a connection, given back when it goes.
class PeerPlace {
 public:
  virtual ~PeerPlace() = default;
  virtual const std::shared_ptr<grpc::Channel>& channel() const = 0;
};

// Thread-safe. Nothing here waits.
class PeerLanes : public std::enable_shared_from_this<PeerLanes> {
 public:
  explicit PeerLanes(TlsOptions tls) : tls_(std::move(tls)) {}

  // RESOURCE_EXHAUSTED: all connections to this node are full. FAILED_PRECONDITION: the
  // certificates cannot be used.
  absl::StatusOr<std::unique_ptr<PeerPlace>> Take(const std::string& address);
  // Lets go of all connections.
  void Clear();
  // A call on that connection could not be made: the next ones get a new one, with what the
  // certificates' files hold then.
  void Leave(const std::string& address, const grpc::Channel* channel);

 private:
  struct Lane {
    std::shared_ptr<grpc::Channel> channel;
    int streams = 0;
  };
  class Place;
  void GiveBack(const std::string& address, const grpc::Channel* channel);

  const TlsOptions tls_;
  Mutex mutex_;
  std::map<std::string, std::vector<Lane>> lanes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
