// SPDX-License-Identifier: Apache-2.0
#include "server/front/peers/grpc_peers.h"

#include <utility>

#include "absl/time/clock.h"

namespace reel::front {
namespace {

class BreaksOff final : public PeerStream {
 public:
  explicit BreaksOff(std::shared_ptr<PeerWatch> watch) : watch_(std::move(watch)) {}
  ~BreaksOff() override { watch_->Cancel(); }

 private:
  const std::shared_ptr<PeerWatch> watch_;
};

}  // namespace

std::unique_ptr<PeerStream> GrpcPeers::Open(const PeerAsk& ask, std::shared_ptr<PeerSink> sink) {
  auto place = lanes_->Take(ask.address);
  if (!place.ok()) {
    sink->OnEnd(place.status());
    return nullptr;
  }
  auto watch = std::make_shared<PeerWatch>(
      ask, *std::move(place), sink, [self = shared_from_this()](PeerWatch& one, bool unreachable) {
        self->OnDone(one, unreachable);
      });
  {
    const MutexLock lock(mutex_);
    if (!stopped_) open_.insert(watch);
    if (stopped_) sink = nullptr;
  }
  if (sink == nullptr) return nullptr;
  watch->Begin();
  return std::make_unique<BreaksOff>(std::move(watch));
}

void GrpcPeers::OnDone(PeerWatch& watch, bool unreachable) {
  if (unreachable) lanes_->Leave(watch.ask().address, watch.place().channel().get());
  std::shared_ptr<PeerWatch> last;  // freed without the lock
  const MutexLock lock(mutex_);
  const auto known = open_.find(watch.shared_from_this());
  if (known != open_.end()) last = open_.extract(known).value();
  changed_.NotifyAll();
}

void GrpcPeers::Stop(absl::Duration limit) {
  const absl::Time end = absl::Now() + limit;
  std::set<std::shared_ptr<PeerWatch>> open;
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
    open = open_;
  }
  for (const auto& watch : open) watch->Cancel();
  open.clear();
  {
    const MutexLock lock(mutex_);
    while (!open_.empty() && absl::Now() < end) changed_.WaitFor(mutex_, end - absl::Now());
  }
  lanes_->Clear();
}

}  // namespace reel::front
