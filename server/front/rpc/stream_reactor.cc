// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/stream_reactor.h"

#include <algorithm>
#include <utility>

#include "server/convert/convert.h"
#include "server/errors/error.h"

namespace reel::front {

GenerateSource::GenerateSource(std::shared_ptr<Job> job, const WatchPoint& from)
    : id_(from.id), cursor_(std::move(job), from) {}

StreamStep GenerateSource::Next(v1::GenerateVideoResponse& message, absl::Status& end) {
  return cursor_.Next(*message.mutable_event(), end);
}

void GenerateSource::Sending(const v1::GenerateVideoResponse& message, CallContext& context) {
  if (!any_event_) context.observer().FirstEvent(context.age());
  any_event_ = true;
  if (message.event().has_media() && !any_chunk_) {
    any_chunk_ = true;
    context.observer().FirstChunk(context.age());
  }
  if (message.event().has_preview()) context.observer().PreviewSent();
}

WatchSource::WatchSource(std::shared_ptr<Job> job, const WatchPoint& from)
    : id_(from.id), cursor_(std::move(job), from) {}

StreamStep WatchSource::Next(v1::WatchVideoResponse& message, absl::Status& end) {
  return cursor_.Next(*message.mutable_event(), end);
}

void WatchSource::Sending(const v1::WatchVideoResponse& message, CallContext& context) {
  if (message.event().has_preview()) context.observer().PreviewSent();
}

DownloadSource::DownloadSource(std::shared_ptr<Job> job, const DownloadRange& range)
    : job_(std::move(job)),
      range_(range),
      // Not offset + limit, which could overflow.
      end_(range.limit > 0 && range.limit < job_->media_size() - range.offset
               ? range.offset + range.limit
               : job_->media_size()),
      offset_(range.offset) {}

StreamStep DownloadSource::Next(v1::DownloadVideoResponse& message, absl::Status& end) {
  if (last_sent_) {
    end = absl::OkStatus();
    return StreamStep::kEnd;
  }
  if (offset_ < end_) {
    auto piece = job_->ReadMedia(offset_, std::min(kMaxChunkBytes, end_ - offset_));
    if (piece.ok() && piece->pending) return StreamStep::kWait;
    if (piece.ok() && piece->bytes.empty()) {
      piece = MakeError(Reason::kMediaCorrupt, "The stored file is shorter than it was");
    }
    if (!piece.ok()) {
      end = piece.status();
      return StreamStep::kEnd;
    }
    offset_ += static_cast<int64_t>(piece->bytes.size());
    *message.mutable_chunk() = ChunkToProto(*std::move(piece));
  }
  if (offset_ >= end_) {
    *message.mutable_media() = MediaToProto(job_->Snapshot().media);
    last_sent_ = true;
  }
  return StreamStep::kMessage;
}

}  // namespace reel::front
