// SPDX-License-Identifier: Apache-2.0
// One stream from another node: WatchVideo as a client calls it, for the tenant whose video it is.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <functional>
#include <memory>

#include "kernels/base/mutex.h"
#include "reel/v1/video_service.grpc.pb.h"
#include "server/front/node/peer_port.h"
#include "server/front/peers/peer_lanes.h"

namespace reel::front {

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

}  // namespace reel::front
