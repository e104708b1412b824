// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/stream_sources.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/convert/convert.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

absl::Status PastEnd(const char* field, int64_t offset, int64_t size) {
  ErrorDetails details;
  details.metadata = {
      {"field", field}, {"offset", absl::StrCat(offset)}, {"size", absl::StrCat(size)}};
  return MakeError(Reason::kOffsetPastEnd,
                   absl::StrCat("The offset lies past the end of the file: ", field, " is ", offset,
                                ", the file has ", size, " bytes; the size itself is legal"),
                   details);
}

const char* StateName(VideoState state) {
  switch (state) {
    case VideoState::kQueued:
      return "QUEUED";
    case VideoState::kRunning:
      return "RUNNING";
    case VideoState::kSucceeded:
      return "SUCCEEDED";
    case VideoState::kFailed:
      return "FAILED";
    case VideoState::kCancelled:
      return "CANCELLED";
  }
  return "";
}

}  // namespace

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

absl::Status CheckDownload(const Job& job, const DownloadRange& range) {
  const Video video = job.Snapshot();
  if (video.state != VideoState::kSucceeded) {
    const std::string name = "videos/" + video.id;
    ErrorDetails details;
    details.metadata = {{"video", name}, {"state", StateName(video.state)}};
    details.precondition_type = "STATE";
    details.precondition_subject = name;
    details.precondition_description = "must be SUCCEEDED";
    return MakeError(Reason::kVideoNotReady,
                     absl::StrCat("Only a finished video can be downloaded; its state is ",
                                  StateName(video.state)),
                     details);
  }
  const int64_t size = job.media_size();
  return range.offset > size ? PastEnd("read_offset", range.offset, size) : absl::OkStatus();
}

absl::Status CheckWatch(const Job& job, const WatchPoint& from) {
  const bool counts = from.attempt == 0 || from.attempt == job.attempt();
  if (from.without_media || !counts || job.state() != VideoState::kSucceeded) {
    return absl::OkStatus();
  }
  const int64_t size = job.media_size();
  return from.media_offset > size ? PastEnd("media_offset", from.media_offset, size)
                                  : absl::OkStatus();
}

}  // namespace reel::front
