// SPDX-License-Identifier: Apache-2.0
#include "server/front/peers/peer_lanes.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/status_macros.h"
#include "server/front/config/tls_files.h"

namespace reel::front {
namespace {

// A listener of ours takes a hundred on one connection.
constexpr int kStreamsPerLane = 90;
constexpr size_t kLanesPerNode = 8;
// More often our listeners take for an attack.
constexpr int kKeepaliveMs = 20'000;
constexpr int kKeepaliveTimeoutMs = 5'000;
constexpr int kConnectMs = 3'000;
constexpr int kLongestBackoffMs = 1'000;

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsOf(const TlsOptions& tls) {
  if (!tls.enabled()) return grpc::InsecureChannelCredentials();
  TlsFiles files;
  const std::vector<std::string> problems = ReadTlsFiles(tls, files);
  if (!problems.empty()) return absl::FailedPreconditionError(absl::StrJoin(problems, "; "));
  return grpc::SslCredentials({files.client_ca, files.key, files.certificates});
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const std::string& address,
                                                       const TlsOptions& tls) {
  REEL_ASSIGN_OR_RETURN(auto credentials, CredentialsOf(tls));
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLongestBackoffMs);
  return grpc::CreateCustomChannel(address, credentials, arguments);
}

}  // namespace

class PeerLanes::Place final : public PeerPlace {
 public:
  Place(std::shared_ptr<PeerLanes> lanes, std::string address,
        std::shared_ptr<grpc::Channel> channel)
      : lanes_(std::move(lanes)), address_(std::move(address)), channel_(std::move(channel)) {}
  ~Place() override { lanes_->GiveBack(address_, channel_.get()); }
  const std::shared_ptr<grpc::Channel>& channel() const override { return channel_; }

 private:
  const std::shared_ptr<PeerLanes> lanes_;
  const std::string address_;
  const std::shared_ptr<grpc::Channel> channel_;
};

absl::StatusOr<std::unique_ptr<PeerPlace>> PeerLanes::Take(const std::string& address) {
  const MutexLock lock(mutex_);
  std::vector<Lane>& lanes = lanes_[address];
  auto free = std::find_if(lanes.begin(), lanes.end(),
                           [](const Lane& lane) { return lane.streams < kStreamsPerLane; });
  if (free == lanes.end()) {
    if (lanes.size() >= kLanesPerNode) {
      return absl::ResourceExhaustedError("All connections to another server are full");
    }
    auto channel = Connect(address, tls_);
    if (!channel.ok()) {
      if (lanes.empty()) lanes_.erase(address);
      return channel.status();
    }
    free = lanes.insert(lanes.end(), {*std::move(channel), 0});
  }
  ++free->streams;
  return std::make_unique<Place>(shared_from_this(), address, free->channel);
}

void PeerLanes::Clear() {
  const MutexLock lock(mutex_);
  lanes_.clear();
}

void PeerLanes::Leave(const std::string& address, const grpc::Channel* channel) {
  const MutexLock lock(mutex_);
  const auto known = lanes_.find(address);
  if (known == lanes_.end()) return;
  std::erase_if(known->second, [&](const Lane& lane) { return lane.channel.get() == channel; });
  if (known->second.empty()) lanes_.erase(known);
}

void PeerLanes::GiveBack(const std::string& address, const grpc::Channel* channel) {
  const MutexLock lock(mutex_);
  const auto known = lanes_.find(address);
  if (known == lanes_.end()) return;
  for (Lane& lane : known->second) {
    if (lane.channel.get() == channel) --lane.streams;
  }
}

}  // namespace reel::front
