// SPDX-License-Identifier: Apache-2.0
// Other nodes over gRPC: what the listener of each (fleet.listen) tells of its videos.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/config/tls_files.h"
#include "server/front/node/peer_port.h"
#include "server/front/peers/peer_lanes.h"
#include "server/front/peers/peer_watch.h"

namespace reel::front {

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
