// SPDX-License-Identifier: Apache-2.0
// Other nodes over gRPC: what the listener of each (fleet.listen) tells of its videos.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "reel/v1/video_service.grpc.pb.h"
#include "server/front/config/tls_files.h"
#include "server/front/node/peer_port.h"

namespace reel::front {

// A place on a connection, given back when it goes.
class PeerPlace {
 public:
  virtual ~PeerPlace() = default;
  virtual const std::shared_ptr<grpc::Channel>& channel() const = 0;
};

// Connections to other nodes, a few to each: one carries so many streams and no more.
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

// One stream from another node: WatchVideo as a client calls it, for the tenant whose video it is.
// Keeps itself from Begin until gRPC is done with it. Thread-safe.
class PeerWatch final : public grpc::ClientReadReactor<v1::WatchVideoResponse>,
                        public std::enable_shared_from_this<PeerWatch> {
 public:
  // `done` is called once, when the sink has been told its end: whether the connection is to blame.
  using Done = std::function<void(PeerWatch& watch, bool unreachable)>;
  PeerWatch(PeerAsk ask, std::unique_ptr<PeerPlace> place, std::shared_ptr<PeerSink> sink,
            Done done);

  void Begin();
  void Cancel() { context_.TryCancel(); }

  const PeerAsk& ask() const { return ask_; }
  const PeerPlace& place() const { return *place_; }

 private:
  absl::Status Tell();
  void OnReadDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  const PeerAsk ask_;
  const std::unique_ptr<PeerPlace> place_;
  const std::unique_ptr<v1::VideoService::Stub> stub_;
  const std::shared_ptr<PeerSink> sink_;
  const Done done_;
  grpc::ClientContext context_;
  v1::WatchVideoRequest request_;
  v1::WatchVideoResponse response_;
  absl::Status refused_;  // by the sink
  std::shared_ptr<PeerWatch> self_;
};

// Thread-safe. Held by shared_ptr alone.
class GrpcPeers final : public PeerPort, public std::enable_shared_from_this<GrpcPeers> {
 public:
  // This node shows others the certificate that its own listener has, and trusts those of its
  // client_ca_file; without certificates all is plain.
  explicit GrpcPeers(TlsOptions tls) : lanes_(std::make_shared<PeerLanes>(std::move(tls))) {}

  std::unique_ptr<PeerStream> Open(const PeerAsk& ask, std::shared_ptr<PeerSink> sink) override;
  // Breaks off all and opens no more; returns when none is left, or after `limit`.
  void Stop(absl::Duration limit);

 private:
  void OnDone(PeerWatch& watch, bool unreachable);

  const std::shared_ptr<PeerLanes> lanes_;
  Mutex mutex_;
  CondVar changed_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<std::shared_ptr<PeerWatch>> open_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace reel::front
