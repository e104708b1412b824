// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/video_cursor.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "kernels/base/digest/crc32c.h"
#include "server/errors/error.h"
#include "server/front/api/shown_error.h"
#include "server/front/api/video_convert.h"

namespace reel::front {
namespace {

absl::Status PastEnd(const char* field, int64_t offset, int64_t size) {
  return MakeError(
      Reason::kOffsetPastEnd,
      absl::StrCat("The offset lies past the end of the file: ", field, " is ", offset,
                   ", the file has ", size, " bytes; the size itself is legal"),
      {.metadata = {
           {"field", field}, {"offset", absl::StrCat(offset)}, {"size", absl::StrCat(size)}}});
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

absl::Status CheckDownload(const Job& job, const DownloadRange& range) {
  const Video video = job.Snapshot();
  if (video.state != VideoState::kSucceeded) {
    const std::string name = "videos/" + video.id;
    return MakeError(Reason::kVideoNotReady,
                     absl::StrCat("Only a finished video can be downloaded; its state is ",
                                  StateName(video.state)),
                     {.metadata = {{"video", name}, {"state", StateName(video.state)}},
                      .precondition_type = "STATE",
                      .precondition_subject = name,
                      .precondition_description = "must be SUCCEEDED"});
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

v1::MediaChunk ChunkToProto(MediaPiece piece) {
  v1::MediaChunk chunk;
  chunk.set_offset(piece.offset);
  chunk.set_crc32c(Crc32c(piece.bytes));
  chunk.set_fragment_end(piece.fragment_end);
  chunk.set_attempt(piece.attempt);
  chunk.set_data(std::move(piece.bytes));
  return chunk;
}

VideoCursor::VideoCursor(std::shared_ptr<Job> job, const WatchPoint& from)
    : job_(std::move(job)),
      without_media_(from.without_media),
      wanted_attempt_(from.attempt == 0 ? job_->attempt() : from.attempt),
      wanted_offset_(from.media_offset),
      sequence_(std::max<uint64_t>(from.after_sequence, 1)),
      attempt_(job_->attempt()),
      offset_(OffsetIn(attempt_)) {}

StreamStep VideoCursor::Emit(LogEntry entry, v1::VideoEvent& event) {
  event = EntryToProto(std::move(entry), *job_);
  return StreamStep::kMessage;
}

std::optional<LogEntry> VideoCursor::FindFinished() const {
  auto entry = job_->NextEntry(0);
  while (entry && !std::holds_alternative<FinishedEvent>(entry->event)) {
    entry = job_->NextEntry(entry->sequence);
  }
  return entry;
}

StreamStep VideoCursor::Next(v1::VideoEvent& event, absl::Status& end) {
  if (!accepted_) {
    auto entry = job_->NextEntry(0);
    if (!entry) return StreamStep::kWait;
    accepted_ = true;
    return Emit(*std::move(entry), event);
  }
  if (finished_) {
    end = absl::OkStatus();
    return StreamStep::kEnd;
  }
  // Read before the log: what ends a job comes after its last entry.
  const VideoState state = job_->state();
  auto entry = job_->NextEntry(sequence_);
  if (!entry && state == VideoState::kSucceeded) entry = FindFinished();
  if (entry && !std::holds_alternative<FinishedEvent>(entry->event)) {
    sequence_ = entry->sequence;
    if (const auto* restarted = std::get_if<RestartedEvent>(&entry->event)) {
      attempt_ = restarted->attempt;
      offset_ = OffsetIn(attempt_);
    }
    return Emit(*std::move(entry), event);
  }
  if (!entry && IsFinal(state) && state != VideoState::kSucceeded) {
    const Video failed = job_->Snapshot();
    end = WithVideo(failed.error, failed.id);
    return StreamStep::kEnd;
  }
  bool pending = false;
  if (!without_media_) {
    const StreamStep step = NextMedia(event, end, pending);
    if (step != StreamStep::kWait) return step;
  }
  if (!entry || pending) return StreamStep::kWait;
  finished_ = true;
  return Emit(*std::move(entry), event);
}

StreamStep VideoCursor::NextMedia(v1::VideoEvent& event, absl::Status& end, bool& pending) {
  auto piece = job_->ReadMedia(offset_, kMaxChunkBytes);
  if (!piece.ok()) {
    end = piece.status();
    return StreamStep::kEnd;
  }
  if (piece->attempt != attempt_) {
    // Started again since the log was read: its `restarted` is next. A reader who joined beyond
    // that entry goes over to the new attempt without it.
    const auto entry = job_->NextEntry(sequence_);
    if (!entry || !std::holds_alternative<RestartedEvent>(entry->event)) {
      attempt_ = piece->attempt;
      offset_ = OffsetIn(attempt_);
    }
    pending = true;  // should that have nothing, this has nothing either
    return Next(event, end);
  }
  pending = piece->pending;
  if (piece->bytes.empty()) return StreamStep::kWait;
  offset_ += static_cast<int64_t>(piece->bytes.size());
  event.Clear();
  event.set_sequence(sequence_);
  *event.mutable_time() = TimeToProto(absl::Now());
  *event.mutable_media() = ChunkToProto(*std::move(piece));
  return StreamStep::kMessage;
}

}  // namespace reel::front
