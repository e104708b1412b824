// SPDX-License-Identifier: Apache-2.0
#include "server/front/peers/grpc_peers.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "kernels/base/digest/crc32c.h"
#include "kernels/base/status_macros.h"
#include "server/front/api/authorizer.h"
#include "server/front/api/video_convert.h"
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

namespace {

// No stream is for ever; the next one goes on where it ended.
constexpr std::chrono::minutes kLongest{10};
constexpr char kNamePrefix[] = "videos/";

absl::Status FromGrpc(const grpc::Status& status) {
  return {static_cast<absl::StatusCode>(status.error_code()), status.error_message()};
}

MediaPiece PieceOf(v1::MediaChunk& chunk) {
  MediaPiece piece;
  piece.attempt = chunk.attempt();
  piece.offset = chunk.offset();
  piece.fragment_end = chunk.fragment_end();
  piece.bytes = std::move(*chunk.mutable_data());
  return piece;
}

}  // namespace

PeerWatch::PeerWatch(PeerAsk ask, std::unique_ptr<PeerPlace> place, std::shared_ptr<PeerSink> sink,
                     Done done)
    : ask_(std::move(ask)),
      place_(std::move(place)),
      stub_(v1::VideoService::NewStub(place_->channel())),
      sink_(std::move(sink)),
      done_(std::move(done)) {
  request_.set_name(kNamePrefix + ask_.id);
  request_.set_after_sequence(ask_.after_sequence);
  request_.set_attempt(ask_.attempt);
  request_.set_media_offset(ask_.media_offset);
  context_.AddMetadata(kPeersTenantKey, ask_.tenant);
  context_.set_deadline(std::chrono::system_clock::now() + kLongest);
}

void PeerWatch::Begin() {
  self_ = shared_from_this();
  stub_->async()->WatchVideo(&context_, &request_, this);
  StartRead(&response_);
  StartCall();
}

absl::Status PeerWatch::Tell() {
  v1::VideoEvent& event = *response_.mutable_event();
  if (event.has_media()) {
    v1::MediaChunk& chunk = *event.mutable_media();
    if (Crc32c(chunk.data()) != chunk.crc32c()) {
      return absl::DataLossError("Bytes of another server came damaged");
    }
    return sink_->OnMedia(PieceOf(chunk));
  }
  std::optional<LogEntry> entry = EntryFromProto(event);
  // Of a later build.
  return entry ? sink_->OnEntry(*std::move(entry)) : absl::OkStatus();
}

void PeerWatch::OnReadDone(bool ok) {
  if (!ok) return;
  refused_ = Tell();
  if (!refused_.ok()) return context_.TryCancel();
  StartRead(&response_);
}

void PeerWatch::OnDone(const grpc::Status& status) {
  const std::shared_ptr<PeerWatch> self = std::move(self_);
  sink_->OnEnd(refused_.ok() ? FromGrpc(status) : refused_);
  done_(*this, status.error_code() == grpc::StatusCode::UNAVAILABLE);
}

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
