// SPDX-License-Identifier: Apache-2.0
#include "server/front/peers/peer_watch.h"

#include <chrono>
#include <optional>
#include <utility>

#include "kernels/base/digest/crc32c.h"
#include "server/front/api/call_identity.h"
#include "server/front/api/video_convert.h"

namespace reel::front {
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

}  // namespace reel::front
